/** The closed set of reasons for which the relay drops a datagram. */

/** Every reason. The README says what each one tells an operator. */
export const DROP_REASONS = [
  // from either side
  'empty', // no bytes, or none behind the framing
  'unknown_protocol', // the first byte is none of STUN, DTLS, RTP or RTCP
  'malformed_stun', // the first byte says STUN, the rest does not
  // from clients
  'oversize', // too long to be framed
  'framing', // our internal framing on a public socket
  'no_route', // no flow, or none with a route that carries it
  'bad_ufrag', // the USERNAME holds nothing that a codec could have written
  'unroutable_ufrag', // the codec did not write this ufrag
  'decode_budget', // too many new ufrags from this part of the network, or in all
  'foreign_cluster', // the ufrag is of another cluster, which `clusters` does not name
  'cluster_unreachable', // the ufrag is of another cluster whose relay's address is not known yet
  'route_not_allowed', // the ufrag leads outside the allowed CIDRs or ports
  'own_address', // the ufrag leads to the relay itself
  'bad_source', // an address that no client has
  'ufrag_addresses', // the ufrag is in use from too many client addresses
  'ufrag_rate', // too many packets of a ufrag that is not confirmed
  'table_full', // every place of a full table is held by a confirmed flow
  // from other relays
  'untrusted_relay', // not from a listed relay
  'foreign_from_relay', // the ufrag is not of our own cluster: it would go to a relay again
  // from the internal socket
  'bad_frame', // no framing header
  'mac_missing', // with framing.mac: no tag
  'mac_key', // a tag by a key that is not ours
  'mac_wrong', // a tag that is wrong: altered, or not made with our key
  'unknown_proxy', // framed for an address that is not one of ours
  'no_flow', // framed for a client without a flow
  'not_own_transceiver', // from an address that is no route of the flow
  'pending_downstream', // from a pending route, and no STUN response
] as const

/** Why a datagram was dropped. */
export type DropReason = (typeof DROP_REASONS)[number]

const NUMBERS = new Map(DROP_REASONS.map((reason, i): [DropReason, number] => [reason, i]))

/** A reason's number in DROP_REASONS, for tables that hold no text. */
export function numberOf(reason: DropReason): number {
  return NUMBERS.get(reason)!
}

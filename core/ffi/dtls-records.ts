/**
 * Cuts a run of DTLS records, as OpenSSL writes them into a memory BIO, into datagrams (RFC 6347 §4.1.1:
 * several records may share a datagram, none may span two). Pure.
 */

const HEADER = 13

const recordEnd = (run: Buffer, at: number): number => at + HEADER + run.readUInt16BE(at + 11)

/** Appends to `datagrams` views of `run`, each of whole records and, where they fit, no longer than `mtu`. */
export function packRecords(run: Buffer, mtu: number, datagrams: Buffer[]): void {
  let start = 0
  while (start + HEADER <= run.length) {
    let end = recordEnd(run, start)
    while (end + HEADER <= run.length && recordEnd(run, end) - start <= mtu) end = recordEnd(run, end)
    datagrams.push(run.subarray(start, end))
    start = end
  }
}

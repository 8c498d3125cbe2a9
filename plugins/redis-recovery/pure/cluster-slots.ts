/**
 * What a cluster's node may say of who has which slots (the answer to CLUSTER SLOTS). ioredis believes it: a list with
 * null in it ends in an exception that leaves the cluster without a client, and a range without end in a loop as long.
 */

const SLOTS = 16_384

/** Nodes of one range: a master and its replicas. */
const MAX_NODES = 64

/** True for a list of ranges that could be a cluster's: slots that there are, each once, and nodes that can be dialled. */
export function areSlots(answer: unknown): boolean {
  if (!Array.isArray(answer)) return false
  let told = 0
  for (const range of answer) {
    const slots = Array.isArray(range) ? slotsOf(range) : 0
    told += slots
    if (slots === 0 || told > SLOTS) return false
  }
  return true
}

/** How many slots a range has; 0 for what is none. */
function slotsOf([first, last, ...nodes]: readonly unknown[]): number {
  const isRange = isInteger(first, 0, SLOTS - 1) && isInteger(last, first, SLOTS - 1)
  return isRange && nodes.length <= MAX_NODES && nodes.every(isNode) ? last - first + 1 : 0
}

/** A node whose host is empty or null is one that does not know its own address; it is not dialled. */
function isNode(node: unknown): boolean {
  if (!Array.isArray(node)) return false
  const [host, port] = node
  return !host || (typeof host === 'string' && host.length <= 255 && isInteger(port, 1, 65_535))
}

function isInteger(value: unknown, least: number, most: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most
}

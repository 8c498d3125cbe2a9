/** Ranges of ports, as operators write them. Pure. */

/** An inclusive range of ports. */
export interface PortRange {
  readonly first: number
  readonly last: number
}

/** A range from `3479` or `1024-65535`; undefined when it is none, is empty or contains port 0. */
export function parsePortRange(text: string): PortRange | undefined {
  const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text)
  if (!match) return undefined
  const first = Number(match[1])
  const last = Number(match[2] ?? match[1])
  return first < 1 || last > 65_535 || first > last ? undefined : { first, last }
}

/** Whether a port lies in a range. */
export function inPorts({ first, last }: PortRange, port: number): boolean {
  return port >= first && port <= last
}

/** Work that must be done in time. */

/** What `within` gives when time ran out. */
export const LATE: unique symbol = Symbol('late')

/** Waits for work, at most `milliseconds`; LATE when it takes longer. The work itself goes on; its failure is lost. */
export async function within<T>(milliseconds: number, work: () => T | Promise<T>): Promise<T | typeof LATE> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<typeof LATE>((done) => {
    timer = setTimeout(() => done(LATE), milliseconds)
  })
  try {
    return await Promise.race([Promise.resolve().then(work), late])
  } finally {
    clearTimeout(timer)
  }
}

/** Finds the word somebody meant. Pure. */

/** The known word nearest to a mistyped one, if it is near enough to be worth saying. */
export function suggest(word: string, known: Iterable<string>): string | undefined {
  let best: string | undefined
  let least = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of known) {
    const far = distance(word.toLowerCase(), candidate.toLowerCase())
    if (far < least && far < word.length) {
      least = far
      best = candidate
    }
  }
  return best
}

/** `did you mean "…"?` for the nearest word, else `fallback`. */
export function hintFor(word: string, known: Iterable<string>, fallback?: string): string | undefined {
  const near = suggest(word, known)
  return near === undefined ? fallback : `did you mean "${near}"?`
}

/** Edits (insert, delete, replace, swap of neighbours) between two words. */
function distance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, before[j - 2]! + 1)
      next.push(cost)
    }
    before = row
    row = next
  }
  return row[b.length]!
}

/** Waits for something in a page to become true. */

import type { Page } from 'playwright-core'

/**
 * Resolves with the value of an expression of the page once it is truthy; rejects, naming it, after `withinMs`. It
 * goes round Playwright's own waiting, which evaluates text inside the page and so breaks its content security policy.
 */
export async function until<T>(page: Page, expression: string, withinMs = 15_000): Promise<T> {
  const outcome = await page.evaluate<{ value?: T; last?: string }>(`new Promise((resolve) => {
    const end = performance.now() + ${withinMs}
    const look = () => {
      let value
      let last
      try { value = ${expression}; last = String(value) } catch (error) { last = String(error) }
      if (value) resolve({ value })
      else if (performance.now() > end) resolve({ last })
      else setTimeout(look, 20)
    }
    look()
  })`)
  if (outcome.value !== undefined) return outcome.value
  throw new Error(`after ${withinMs} ms still not: ${expression} (last: ${outcome.last})`)
}

/** Somebody else's client, unmodified: a page of its own in Chromium, and the edge that it calls. */

import type { Page } from 'playwright-core'
import { type Config, edgeConfig } from '../integration/support/configs.ts'
import { startEdge, type TestEdge } from '../peers/edge.ts'
import { bundlePage } from './bundle-page.ts'
import { type BrowserOptions, startChromium } from './chromium.ts'

/** The edge's only key, Alice's. */
export const KEY = 'alice-has-a-long-key'

/** A tab with the page in it. */
export interface ClientTab {
  readonly tab: Page
  /** What the page has asked for since it was loaded. */
  readonly asked: readonly (readonly [method: string, status: number])[]
}

/** The client; all of it is closed at the end of the scope. */
export interface ClientApp extends AsyncDisposable {
  readonly edge: TestEdge
  /** Opens one more tab. */
  open(): Promise<ClientTab>
}

/** Bundles the script into a page, and starts Chromium and an edge: with `bridge`, or the loopback. */
export async function startClientApp(
  script: string,
  { bridge, ...browserOptions }: { bridge?: Config } & BrowserOptions = {},
): Promise<ClientApp> {
  await using parts = new AsyncDisposableStack()
  const config = edgeConfig({ http: { keys: { alice: KEY } }, ...(bridge ? { bridge } : {}) })
  const edge = parts.use(await startEdge({ config }))
  const page = parts.use(await bundlePage(script))
  const { browser } = parts.use(await startChromium(browserOptions))
  const open = parts.move()
  return {
    edge,
    async open() {
      const tab = await browser.newPage()
      const asked: [method: string, status: number][] = []
      await tab.goto(page.url)
      tab.on('response', (response) => void asked.push([response.request().method(), response.status()]))
      return { tab, asked }
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}

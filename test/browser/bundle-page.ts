/** A page of an app's own: a script with npm packages in it, bundled as an app would, served from an origin of its own. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import { dirname } from 'node:path'
import { build } from 'esbuild'

/** A page that is served until the end of the scope: `await using`. */
export interface BundledPage extends AsyncDisposable {
  readonly url: string
}

/** Bundles the text of an ES module and serves a page with it. */
export async function bundlePage(script: string): Promise<BundledPage> {
  const { outputFiles } = await build({
    stdin: { contents: script, resolveDir: dirname(import.meta.dirname), loader: 'js' },
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    logLevel: 'silent',
    define: { global: 'globalThis', 'process.env.NODE_ENV': '"production"' },
  })
  const code = outputFiles[0]!.text
  const server = createServer((request, response) => {
    const isScript = request.url === '/page.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8')
    response.end(isScript ? code : '<!doctype html><title>app</title><script src="/page.js"></script>')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const bound = server.address()
  const port = typeof bound === 'object' && bound ? bound.port : 0
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

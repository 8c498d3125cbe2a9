/** The peers that are not ours: built or found where they can be, in a folder that is gone at the end, else named as missing. */

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const FOLDER = import.meta.dirname
const NGINX_MODULES = [
  '/usr/lib/nginx/modules/ngx_stream_module.so',
  '/usr/lib64/nginx/modules/ngx_stream_module.so',
  '/usr/share/nginx/modules/ngx_stream_module.so',
]
const GO = ['go', '/usr/local/go/bin/go']

/** A program, or why there is none. */
export type Program = { readonly command: string; readonly version: string } | { readonly missing: string }

/** The C loop, by gcc. */
export async function buildC(folder: string): Promise<Program> {
  const command = join(folder, 'relay-c')
  try {
    const { stdout } = await run('gcc', ['--version'])
    await run('gcc', ['-O3', '-o', command, join(FOLDER, 'relay.c')])
    return { command, version: stdout.split('\n', 1)[0]! }
  } catch (error) {
    return { missing: `the C loop: gcc is missing or failed (${reason(error)})` }
  }
}

/** The Go relay. */
export async function buildGo(folder: string): Promise<Program> {
  const command = join(folder, 'relay-go')
  for (const go of GO) {
    try {
      const { stdout } = await run(go, ['version'])
      const env = {
        ...process.env,
        GOCACHE: process.env.GOCACHE ?? join(folder, 'go-cache'),
        GOFLAGS: '',
        GO111MODULE: 'off',
      }
      await run(go, ['build', '-o', command, join(FOLDER, 'relay.go')], { env })
      return { command, version: stdout.trim() }
    } catch (error) {
      if (!isAbsent(error)) return { missing: `the Go relay: ${reason(error)}` }
    }
  }
  return { missing: 'the Go relay: Go is not installed' }
}

/** nginx with its stream module, built in or beside it. */
export async function findNginx(): Promise<Program> {
  try {
    const { stderr } = await run('nginx', ['-V'])
    const isBuiltIn = /--with-stream(\s|$)/.test(stderr)
    if (!isBuiltIn && streamModule() === undefined) {
      return { missing: 'nginx stream: nginx is there, its stream module is not (libnginx-mod-stream)' }
    }
    return { command: 'nginx', version: stderr.split('\n', 1)[0]!.replace('nginx version: ', '') }
  } catch {
    return { missing: 'nginx stream: nginx is not installed' }
  }
}

function streamModule(): string | undefined {
  return NGINX_MODULES.find((path) => existsSync(path))
}

/** Writes the config of an nginx that forwards one UDP port, and gives its path. */
export async function writeNginxConfig(folder: string, port: number, transceiver: number): Promise<string> {
  const module = streamModule()
  const file = join(folder, `nginx-${port}.conf`)
  const lines = [
    // One process, so that what it costs is what that process costs.
    'daemon off;',
    'master_process off;',
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    ...(module ? [`load_module ${module};`] : []),
    `pid ${folder}/nginx-${port}.pid;`,
    `error_log ${folder}/nginx-${port}.log crit;`,
    'worker_rlimit_nofile 20000;',
    'events { worker_connections 16000; }',
    'stream {',
    '  server {',
    `    listen 127.0.0.1:${port} udp rcvbuf=4m sndbuf=4m;`,
    `    proxy_pass 127.0.0.1:${transceiver};`,
    '    proxy_timeout 1h;',
    '    proxy_buffer_size 2k;',
    '  }',
    '}',
  ]
  await writeFile(file, `${lines.join('\n')}\n`)
  return file
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message.split('\n').slice(0, 3).join(' ') : String(error)
}

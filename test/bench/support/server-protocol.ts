/** What a server process under measurement and its driver say to each other. */

/** What a server uses, from its start to now. */
export interface Usage {
  /** User and system time of the whole process, all its threads. */
  readonly cpuMicros: number
  /** The part of it that was the kernel's. */
  readonly systemMicros: number
  readonly rssBytes: number
  /** Memory that JavaScript holds outside its heap. */
  readonly externalBytes: number
  readonly heapBytes: number
}

/** What the driver asks. `usage`; the same once garbage is collected; calls in being; to stop. */
export interface Request {
  readonly id: number
  readonly ask: 'usage' | 'settle' | 'calls' | 'stop'
}

/** An answer: a number to `calls`, else what is used. */
export interface Reply {
  readonly id: number
  readonly usage: Usage
  readonly calls: number
}

/** Sent once, when the server listens. */
export interface Ready {
  readonly origin: string
  /** Where clients must send, if not to the answer's candidates. */
  readonly via?: string
}

/** What a server lets its driver do. */
export interface Served {
  /** Counts the calls in being. */
  calls(): number | Promise<number>
  stop(): Promise<void>
}

/** Serves a driver over IPC until it stops or goes away. */
export function serveDriver(ready: Ready, served: Served): void {
  process.on('message', (request: Request) => void answer(request))
  process.on('disconnect', () => process.exit(0))
  process.send?.(ready)

  async function answer({ id, ask }: Request): Promise<void> {
    if (ask === 'settle') await settle()
    if (ask === 'stop') await served.stop()
    const calls = ask === 'calls' ? await served.calls() : 0
    const reply: Reply = { id, usage: usage(), calls }
    process.send?.(reply, () => {
      if (ask === 'stop') process.exit(0)
    })
  }
}

/** Twice, with a turn between, so that what finalizers free is gone too. */
async function settle(): Promise<void> {
  for (let i = 0; i < 2; i++) {
    globalThis.gc?.()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function usage(): Usage {
  const { user, system } = process.cpuUsage()
  const { rss, external, heapUsed } = process.memoryUsage()
  return {
    cpuMicros: user + system,
    systemMicros: system,
    rssBytes: rss,
    externalBytes: external,
    heapBytes: heapUsed,
  }
}

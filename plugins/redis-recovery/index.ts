/** The recovery store in Redis, as a plugin: what relays share, so that one carries on where another stopped. */

import { definePlugin, RecoveryStore } from '../../core/index.ts'
import { createClient, silenceMs, tlsFiles, whereTo } from './client.ts'
import { Commands } from './commands.ts'
import { Entries } from './entry.ts'
import { Link } from './link.ts'
import { Instruments, observeStore } from './metrics.ts'
import { check, Options } from './options.ts'
import { RedisStore } from './store.ts'

export default definePlugin({
  name: 'redis-recovery',
  api: 1,
  options: Options,
  provides: { recovery: RecoveryStore },
  check,
  async setup(options, _services, { log, meter, onClose }) {
    const entries = new Entries(options.secret, options.keyPrefix)
    const instruments = new Instruments(meter)
    const files = await tlsFiles(options)
    const client = createClient(options, files)
    // Not awaited: a start never depends on Redis.
    const link = new Link(client, {
      log,
      where: whereTo(options),
      silenceMs: silenceMs(options),
      onReady: () => recovery.wake(),
      onLost: () => void files?.reread(log),
    })
    const commands = new Commands(link, entries, instruments)
    const recovery = new RedisStore({ link, commands, entries, instruments, maxQueued: options.maxQueued })
    const unobserve = observeStore(meter, recovery, link)
    onClose(async () => {
      unobserve()
      await recovery.close()
    })
    return { recovery }
  },
})

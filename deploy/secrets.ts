/**
 * Makes the secrets that the processes of one deployment share, as the configs in `deploy/roles` name them. Run, it
 * prints one NAME=value a line: `export $(npm run -s secrets)`, or `npm run -s secrets > .env` to keep them.
 */

import { randomBytes } from 'node:crypto'

/** New secrets by the names of their environment variables. */
export function makeSecrets(): Record<string, string> {
  const secret = (bytes: number): string => randomBytes(bytes).toString('hex')
  return {
    EARSHOT_ROUTING_KEY: secret(16),
    EARSHOT_CONTROL_KEY: secret(32),
    EARSHOT_CLIENT_SECRET_KEY: secret(32),
    EARSHOT_RECOVERY_SECRET: secret(32),
  }
}

// bin/node.js imports a script where the Node that started it will do; then import.meta.main is false.
if (import.meta.main || process.argv[1] === import.meta.filename) {
  for (const [name, value] of Object.entries(makeSecrets())) console.log(`${name}=${value}`)
}

/** A backend for the example: it says what it was told. `node backend.ts` */

import { createServer } from 'node:http'

createServer((request, response) => {
  request.pipe(response)
}).listen(7000, '127.0.0.1')

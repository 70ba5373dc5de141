import { connect } from 'node:net'
import test from 'node:test'
import { haproxy, missingHaproxy } from '../../test/support/haproxy.ts'
import { proxyHeaderOf } from '../../test/support/proxy-header.ts'
import { until } from '../../test/support/until.ts'
import { beds, portOf, testBed } from '../test-bed.ts'
import { frontFiles } from './front-files.ts'

const skip = (await missingHaproxy()) ?? false

// HAProxy closes its connection to the router once a client has left, often before the router has
// accepted it.

const header = proxyHeaderOf('127.0.0.2')
const request = Buffer.from('GET /never HTTP/1.1\r\nHost: app.localhost\r\n\r\n')
const pieces: Readonly<Record<string, readonly Buffer[]>> = {
  'no bytes': [],
  'a part of its header': [header.subarray(0, 10)],
  'its header': [header],
  'its request': [Buffer.concat([header, request])],
  'its request in two pieces': [header, request],
  'its request in two odd pieces': [Buffer.concat([header, request.subarray(0, 2)]), request.subarray(2)],
}

for (const [what, parts] of Object.entries(pieces)) {
  for (const end of ['end', 'destroy'] as const) {
    test(`a connection of HAProxy that sends ${what} leaves nothing open (${end})`, {
      skip,
      timeout: 30_000,
    }, async (t) => {
      beds.haproxy = haproxy
      const bed = await testBed(t)
      let open = 0
      const app = await bed.application((_, response) => {
        open++
        response.once('close', () => open--)
      })
      await bed.lead([portOf(app)])
      const { own } = frontFiles(bed.control)
      for (let count = 0; count < 60; count++) {
        const socket = connect({ path: own })
        socket.on('error', () => {})
        for (const part of parts) {
          if (count % 2) await new Promise((resolve) => setImmediate(resolve))
          socket.write(part)
        }
        // Some are read before they end.
        if (count % 3) await new Promise((resolve) => setImmediate(resolve))
        socket[end]()
      }
      await until('no request is open at the application', () => open === 0)
      // A connection that nobody ends would hold the router.
      await bed.router.stop(0)
    })
  }
}

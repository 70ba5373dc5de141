import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import test, { type TestContext } from 'node:test'
import { findFreePort } from '../test/support/free-port.ts'
import { freePort, listen, open } from './listen.ts'

const host = '127.0.0.1'

/** Returns two free ports side by side, of which a server has the second. */
async function neighbours(t: TestContext): Promise<{ readonly first: number; readonly last: number }> {
  for (;;) {
    const first = await findFreePort()
    const server = createServer()
    try {
      await listen(server, { host, port: first + 1 })
    } catch {
      // Another program has it.
      continue
    }
    t.after(() => server.close())
    return { first, last: first + 1 }
  }
}

test('a free port is below the range of outgoing connections', async () => {
  const port = await freePort(host)
  assert.ok(port >= 16_384 && port <= 32_767, String(port))
  const server = createServer()
  await open(server, { host, port })
  server.close()
})

test('a port on which a program listens is not free, nor is one that is excepted', async (t) => {
  const { first, last } = await neighbours(t)
  for (let count = 0; count < 10; count++) assert.equal(await freePort(host, undefined, { first, last }), first)
  await assert.rejects(freePort(host, first, { first, last }), /no free port of 127\.0\.0\.1 .*: end a program/)
})

test('an address that this machine does not have is reported as such', async () => {
  await assert.rejects(freePort('192.0.2.7'), { code: 'EADDRNOTAVAIL' })
})

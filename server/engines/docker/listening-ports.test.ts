import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, it } from 'node:test'
import { explainListeners, listenersOf, parseListeners } from './listening-ports.ts'

const table = (...rows: string[]) =>
  `  sl  local_address rem_address   st\n${rows.map((row, n) => `   ${n}: ${row}`).join('\n')}\n`

describe('listening ports', () => {
  it('are read from the tables of both families, without Docker’s resolver and open connections', () => {
    const text = table(
      '00000000:0BB8 00000000:0000 0A',
      '0100007F:1F90 00000000:0000 0A',
      '0B00007F:A1B2 00000000:0000 0A',
      '0200A8C0:2328 0100A8C0:C001 01',
      '00000000000000000000000001000000:1F91 00000000000000000000000000000000:0000 0A',
      '0000000000000000FFFF00000100007F:1F92 00000000000000000000000000000000:0000 0A',
      '00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A',
    )
    assert.deepEqual(parseListeners(text), [
      { port: 3000, localOnly: false },
      { port: 8080, localOnly: false },
      { port: 8081, localOnly: true },
      { port: 8082, localOnly: true },
    ])
  })

  it('are those of the given process', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const listeners = await listenersOf(process.pid)
    server.close()
    assert.deepEqual(
      listeners?.find((listener) => listener.port === port),
      { port, localOnly: true },
    )
  })

  it('are unknown for a process that has ended', async () => {
    assert.equal(await listenersOf(0), undefined)
    assert.equal(await listenersOf(2 ** 30), undefined)
  })

  it('come with advice on what to do', () => {
    const explain = (...listeners: [number, boolean][]) =>
      explainListeners(
        8080,
        listeners.map(([port, localOnly]) => ({ port, localOnly })),
      )
    assert.equal(explain([8080, false]), undefined)
    assert.match(explain([8080, true]) ?? '', /127\.0\.0\.1:8080 only.*make it listen on 0\.0\.0\.0/)
    assert.match(explain([3000, false]) ?? '', /set internal_port to 3000/)
    assert.match(explain([3000, true]) ?? '', /make it listen on 0\.0\.0\.0:8080/)
    assert.match(explain() ?? '', /does not listen on any port yet/)
  })
})

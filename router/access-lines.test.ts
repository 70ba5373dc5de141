import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:http2'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { isAccessLine } from '@quayside/contract/access-line.ts'
import { endAfter } from '../test/support/http2-session.ts'
import { selfSigned } from '../test/support/self-signed.ts'
import { until } from '../test/support/until.ts'
import { AccessLines, shownMethod, shownPath } from './access-lines.ts'
import { KeptLines } from './kept-lines.ts'
import { limits } from './limits.ts'
import { silentLog } from './log.ts'
import { beds, portOf, type TestBed, testBed } from './test-bed.ts'

const wanted = { rules: { accessLines: true } }

async function textsOf({ tell }: TestBed): Promise<string[]> {
  const { body } = await tell('POST', '/lines')
  const lines: unknown[] = Object(body).lines
  return lines.map((line) => {
    assert.ok(isAccessLine(line))
    return `${line.service}: ${line.text}`
  })
}

/** The line without its time and its number of bytes. */
const plain = (line: string): string => line.replace(/ \d+ ms \d+ B /, ' ')

test('each request of a service that wants it is a line with its status, its client and no query', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((incoming, response) => {
    response.statusCode = Number(incoming.headers['x-status'])
    response.end('hello')
  })
  await bed.lead([portOf(app)], wanted)
  await bed.ask({ path: '/a/b?token=secret', headers: { 'x-status': 200 } })
  await bed.ask({ path: '/', method: 'POST', headers: { 'x-status': 404 }, body: 'x' })
  await bed.ask({ path: '/c', headers: { 'x-status': 500 } })
  const lines: string[] = []
  await until('three lines', async () => lines.push(...(await textsOf(bed))) >= 3)
  assert.deepEqual(lines.map(plain), [
    'service: info GET /a/b?... 200 127.0.0.1',
    'service: warning POST / 404 127.0.0.1',
    'service: error GET /c 500 127.0.0.1',
  ])
  assert.match(lines[0] ?? '', / 5 B /)
})

test('a refused request, and one without an endpoint, is a line too', async (t) => {
  const bed = await testBed(t)
  await bed.lead([], { rules: { accessLines: true, deny: ['127.0.0.1/32'] } })
  await bed.ask()
  await bed.lead([], wanted)
  await bed.ask()
  const lines: string[] = []
  await until('two lines', async () => lines.push(...(await textsOf(bed))) >= 2)
  assert.deepEqual(lines.map(plain), ['service: warning GET / 403 127.0.0.1', 'service: error GET / 503 127.0.0.1'])
})

test('a client that left before the response has the status 499', async (t) => {
  const bed = await testBed(t)
  const asked = Promise.withResolvers<void>()
  const app = await bed.application(() => asked.resolve())
  await bed.lead([portOf(app)], wanted)
  const socket = bed.raw('GET /slow HTTP/1.1\r\nHost: app.localhost\r\n\r\n')
  await asked.promise
  socket.destroy()
  const lines: string[] = []
  await until('a line', async () => lines.push(...(await textsOf(bed))) >= 1)
  assert.deepEqual(lines.map(plain), ['service: warning GET /slow 499 127.0.0.1'])
})

test('a client that left while a service woke has a line with the status 499', async (t) => {
  const bed = await testBed(t)
  await bed.lead([], { ...wanted, asleep: true })
  const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
  for (const more of ['', `Connection: Upgrade\r\nUpgrade: websocket\r\n${key}\r\n`]) {
    const socket = bed.raw(`GET /slow HTTP/1.1\r\nHost: app.localhost\r\n${more}\r\n`)
    await until('it is held', async () => (await bed.tell('GET', '/health')).body['held'] === 1)
    socket.destroy()
    const lines: string[] = []
    await until('a line', async () => lines.push(...(await textsOf(bed))) >= 1)
    assert.deepEqual(lines.map(plain), ['service: warning GET /slow 499 127.0.0.1'])
  }
})

test('a request for an upgrade is a line, however it is answered', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((_, response) => response.end('hello'))
  /** HAProxy keeps the connection after a response. */
  const ask = async (path: string, expected: RegExp): Promise<void> => {
    const upgrade = 'Host: app.localhost\r\nConnection: Upgrade\r\nUpgrade: any\r\n'
    const socket = bed.raw(`GET ${path} HTTP/1.1\r\n${upgrade}\r\n`)
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    await until(`the response to ${path}`, () => expected.test(text))
    socket.destroy()
  }
  await bed.lead([portOf(app)], wanted)
  await ask('/ignored?token=secret', /^HTTP\/1.1 200 .*hello$/s)
  await bed.lead([portOf(app)], { rules: { accessLines: true, deny: ['127.0.0.1/32'] } })
  await ask('/denied', /^HTTP\/1.1 403 /)
  app.on('upgrade', (_request, socket) => {
    socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: any\r\nConnection: Upgrade\r\n\r\n')
  })
  await bed.lead([portOf(app)], wanted)
  await ask('/joined', /^HTTP\/1.1 101 /)
  const lines: string[] = []
  await until('three lines', async () => lines.push(...(await textsOf(bed))) >= 3)
  assert.deepEqual(lines.map(plain), [
    'service: info GET /ignored?... 200 127.0.0.1',
    'service: warning GET /denied 403 127.0.0.1',
    'service: info GET /joined 101 127.0.0.1',
  ])
  assert.match(lines[0] ?? '', / 5 B /)
})

test('a service without the setting has no line', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((_, response) => response.end('hello'))
  await bed.lead([portOf(app)])
  await bed.ask()
  assert.deepEqual(await textsOf(bed), [])
})

test('no method, path or client keeps a request out of the lines', async (t) => {
  const bed = await testBed(t, { tlsPort: 0 })
  let seen = 0
  const app = await bed.application((_, response) => {
    seen++
    response.end('hello')
  })
  await bed.lead([portOf(app)], { ...wanted, host: 'outside.invalid', tls: { from: 'platform', redirects: false } })
  const certificates = [{ host: 'outside.invalid', chain: selfSigned.cert, key: selfSigned.key }]
  await bed.tell('PUT', '/tls', { certificates, challenges: [], mark: 'one' })
  const session = connect(`https://127.0.0.1:${bed.router.tlsPort}`, {
    servername: 'outside.invalid',
    ca: selfSigned.cert,
  })
  endAfter(t, session)
  const lines: string[] = []
  const answers: unknown[] = []
  for (const [method, path] of [
    ['M'.repeat(2_000), '/long'],
    ['!#$%&*+.^_`|~', '/odd'],
    ['GET', `/${'p'.repeat(5_000)}`],
  ]) {
    const stream = session.request({ ':method': method, ':path': path, ':authority': 'outside.invalid' })
    const closed = new Promise((resolve) => stream.once('close', resolve))
    stream.on('response', (headers) => answers.push(headers[':status']))
    stream.on('error', (error) => answers.push(String(error))).end()
    stream.resume()
    await closed
  }
  // HAProxy sends requests over HTTP/1.1, where the router refuses unknown methods as malformed.
  const expected = beds.haproxy ? seen : 3
  assert.ok(expected > 0, `no request reached the application: ${answers.join()}`)
  await until('their lines', async () => lines.push(...(await textsOf(bed))) >= expected)
  if (beds.haproxy) return
  assert.match(lines[0] ?? '', /^service: \w+ M{20}\.\.\. \/long /)
  assert.match(lines[1] ?? '', /^service: \w+ \S+ \/odd /)
})

test('a router that ends leaves its lines to the next one, once', async (t) => {
  const bed = await testBed(t)
  const begun = Promise.withResolvers<ServerResponse>()
  const app = await bed.application((_, response) => begun.resolve(response))
  await bed.lead([portOf(app)], wanted)
  const asked = bed.ask({ path: '/slow' })
  const response = await begun.promise
  const stopped = bed.router.stop(10_000)
  // Nobody can ask this router for lines any more.
  await until('it has handed over', () =>
    bed.tell('GET', '/health').then(
      () => false,
      () => true,
    ),
  )
  response.end('hello')
  assert.equal((await asked).status, 200)
  await stopped
  const next = new KeptLines(new AccessLines(), { state: bed.state, log: silentLog })
  assert.deepEqual(
    next.take().map(({ text }) => plain(text)),
    ['info GET /slow 200 127.0.0.1'],
  )
  assert.deepEqual(next.take(), [])
  await writeFile(join(dirname(bed.state), `lines-${randomUUID()}.json`), '[{"service"')
  assert.deepEqual(next.take(), [])
  assert.ok((await readdir(dirname(bed.state))).every((name) => !name.startsWith('lines-')))
})

test('a method cannot forge a line, and is cut', () => {
  assert.equal(shownMethod('GET'), 'GET')
  assert.equal(shownMethod('A B\n'), 'A\\u{20}B\\u{a}')
  assert.equal(shownMethod('\u001b'.repeat(20)), `${'\\u{1b}'.repeat(4).slice(0, 20)}...`)
})

test('a path cannot forge a line or control a terminal, and is cut', () => {
  assert.equal(shownPath('/a\u001b[31m\nerror \u0085'), '/a\\u{1b}[31m\\u{a}error\\u{20}\\u{85}')
  assert.equal(shownPath('/\u00e9?x=1'), '/\\u{e9}?...')
  assert.equal(shownPath(`/${'a'.repeat(600)}?x`), `/${'a'.repeat(499)}...?...`)
  assert.ok(shownPath('\u001b'.repeat(600)).length < 510)
})

test('lines beyond the limit of a service are counted', () => {
  const lines = new AccessLines()
  const closes: (() => void)[] = []
  const response = { once: (_: string, close: () => void) => closes.push(close), socket: null, headersSent: false }
  for (let count = 0; count < limits.accessLinesPerService + 7; count++) {
    lines.watch({ service: 'busy' }, Object({ method: 'GET', url: '/' }), Object(response), '192.0.2.1')
  }
  for (const close of closes) close()
  const taken = lines.take()
  assert.equal(taken.length, limits.accessLinesPerService + 1)
  assert.equal(taken.at(-1)?.text, 'warning 7 more requests have no line')
  assert.deepEqual(lines.take(), [])
})

test('lines of one organization leave room for those of others', () => {
  const lines = new AccessLines()
  const write = (service: string, organization: string, count: number): void => {
    for (let n = 0; n < count; n++)
      lines.begin({ service, organization }, { method: 'GET', url: '/' }, '192.0.2.1')(200, 0)
  }
  for (let n = 0; n < 6; n++) write(`busy${n}`, 'busy', limits.accessLinesPerService)
  write('shop', 'quiet', 50)
  write('busy0', 'busy', 50)
  const taken = lines.take()
  const of = (service: string) => taken.filter((line) => line.service === service)
  assert.equal(of('shop').length, 50)
  assert.equal(of('shop').filter(({ text }) => text.startsWith('warning')).length, 0)
  assert.equal(taken.filter(({ text }) => !text.startsWith('warning')).length, limits.accessLines)
  // The newest lines of the largest owner made room. They are counted as missing.
  const missed = taken.flatMap(({ text }) => text.match(/^warning (\d+) more/)?.[1] ?? [])
  assert.equal(
    missed.reduce((sum, count) => sum + Number(count), 0),
    2_000 + 50 + 50,
  )
})

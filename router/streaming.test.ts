import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import test from 'node:test'
import { until } from '../test/support/until.ts'
import { sleep } from './clock.ts'
import { beds, portOf, type TestBed, testBed, textOf } from './test-bed.ts'

const mebibyte = Buffer.alloc(1024 * 1024, 'x')

function open(bed: TestBed, method: string, headers: Record<string, string> = {}): ClientRequest {
  const options = { host: '127.0.0.1', port: bed.router.port, method, agent: false as const }
  return request({ ...options, headers: { host: 'app.localhost', ...headers } })
}

async function answerOf(outgoing: ClientRequest): Promise<IncomingMessage> {
  const [message]: IncomingMessage[] = await once(outgoing, 'response')
  assert.ok(message)
  return message
}

test('a response streams chunk by chunk, its headers first', async (t) => {
  const bed = await testBed(t)
  let write = (_text: string): void => {}
  const app = await bed.application((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.flushHeaders()
    write = (text) => (text === '' ? response.end() : response.write(text))
  })
  await bed.lead([portOf(app)])
  const outgoing = open(bed, 'GET')
  outgoing.end()
  const message = await answerOf(outgoing)
  assert.equal(message.headers['content-type'], 'text/event-stream')
  for (const piece of ['data: 1\n\n', 'data: 2\n\n', 'data: 3\n\n']) {
    write(piece)
    const [chunk]: Buffer[] = await once(message, 'data')
    assert.equal(String(chunk), piece)
  }
  write('')
  await once(message, 'end')
})

test('a request body streams chunk by chunk, and its response may begin before its end', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((incoming, response) => {
    incoming.on('data', (chunk: Buffer) => response.write(`got ${chunk}`))
    incoming.on('end', () => response.end())
  })
  await bed.lead([portOf(app)])
  const outgoing = open(bed, 'POST')
  outgoing.write('1')
  const message = await answerOf(outgoing)
  for (const piece of ['1', '2', '3']) {
    if (piece !== '1') outgoing.write(piece)
    const [chunk]: Buffer[] = await once(message, 'data')
    assert.equal(String(chunk), `got ${piece}`)
  }
  outgoing.end()
  message.resume()
  await once(message, 'end')
})

test('the router forwards 200 MiB both ways without buffering them', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((incoming, response) => incoming.pipe(response))
  await bed.lead([portOf(app)])
  const outgoing = open(bed, 'POST')
  let sent = 0
  const feed = (): void => {
    while (sent < 200) {
      sent++
      if (!outgoing.write(mebibyte)) return
    }
    outgoing.end()
    outgoing.off('drain', feed)
  }
  outgoing.on('drain', feed)
  feed()
  const message = await answerOf(outgoing)
  // While the client does not read the response, the sender must stop.
  message.pause()
  let before = -1
  await until('the sender is held back', async () => {
    const still = sent === before
    before = sent
    await sleep(100)
    return still
  })
  // The system holds up to 36 MiB of each of the four connections on the way.
  assert.ok(sent < 160, `${sent} MiB were taken although nobody reads`)
  let received = 0
  message.on('data', (chunk: Buffer) => {
    received += chunk.length
  })
  message.resume()
  await once(message, 'end')
  assert.equal(received, 200 * mebibyte.length)
})

test('the request ends at the application when the client disconnects', async (t) => {
  const bed = await testBed(t)
  let open200 = 0
  const app = await bed.application((incoming, response) => {
    open200++
    response.on('close', () => open200--)
    if (incoming.url === '/began') response.write('x')
  })
  await bed.lead([portOf(app)])
  const socket = bed.raw('GET /silent HTTP/1.1\r\nHost: app.localhost\r\n\r\n')
  const other = bed.raw('GET /began HTTP/1.1\r\nHost: app.localhost\r\n\r\n')
  await once(other, 'data')
  await until('both requests are open', () => open200 === 2)
  socket.destroy()
  other.destroy()
  await until('both requests ended', () => open200 === 0)
  const { body } = await bed.tell('GET', '/health')
  await until(`${body}`, async () =>
    JSON.stringify((await bed.tell('GET', '/health')).body['counts']).includes('"open":0'),
  )
})

test('the router sends 100 Continue only once the application accepts the request', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((incoming, response) => {
    textOf(incoming)
      .then((text) => response.end(`${text} ${incoming.headers.expect}`))
      .catch(() => response.destroy())
  })
  await bed.lead([portOf(app)])
  const outgoing = open(bed, 'POST', { Expect: '100-continue' })
  outgoing.flushHeaders()
  await once(outgoing, 'continue')
  outgoing.end('body')
  assert.equal(await textOf(await answerOf(outgoing)), 'body undefined')
  await bed.lead([], { reason: 'stopped' })
  const refused = open(bed, 'POST', { Expect: '100-continue' })
  let continued = false
  refused.on('continue', () => {
    continued = true
  })
  refused.flushHeaders()
  const message = await answerOf(refused)
  refused.on('error', () => {}).destroy()
  assert.deepEqual([message.statusCode, continued], [503, false])
})

test('an application may answer before it reads the request', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((_, response) => {
    response.writeHead(413)
    response.end('too large')
  })
  await bed.lead([portOf(app)])
  const outgoing = open(bed, 'POST')
  outgoing.on('error', () => {})
  outgoing.write(mebibyte)
  const message = await answerOf(outgoing)
  assert.equal(message.statusCode, 413)
  assert.equal(await textOf(message), 'too large')
  outgoing.destroy()
  assert.equal((await bed.ask()).status, 413)
})

test('only its own request fails when an application dies in the middle of a body', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((incoming, response) => {
    if (incoming.method === 'GET') response.end('fine')
    else incoming.once('data', () => incoming.socket.destroy())
  })
  await bed.lead([portOf(app)])
  const outgoing = open(bed, 'POST')
  const failed = new Promise<string>((resolve) => outgoing.on('error', (error) => resolve(error.message)))
  for (let count = 0; count < 4; count++) outgoing.write(mebibyte)
  const result = await Promise.race([answerOf(outgoing).then((message) => message.statusCode), failed])
  assert.ok(result === 502 || /ECONNRESET|EPIPE|hang up/.test(String(result)), String(result))
  outgoing.destroy()
  assert.equal((await bed.ask()).body, 'fine')
})

test('a connection stays usable when the application answers before it has read the body', async (t) => {
  if (beds.haproxy) return t.skip('HAProxy waits for the application, as long as it may be silent')
  const bed = await testBed(t)
  const app = await bed.application((request, response) => {
    if (request.method !== 'POST') response.end('second')
    else request.once('readable', () => response.end('first'))
  })
  await bed.lead([portOf(app)])
  const size = 1_000_000
  const socket = bed.raw(`POST / HTTP/1.1\r\nHost: app.localhost\r\nContent-Length: ${size}\r\n\r\n`)
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.write(Buffer.alloc(size))
  socket.write('GET / HTTP/1.1\r\nHost: app.localhost\r\nConnection: close\r\n\r\n')
  await until('both are answered', () => text.includes('first') && text.endsWith('second'), { limitMs: 10_000 })
})

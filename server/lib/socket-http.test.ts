import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { until } from '../../test/support/until.ts'
import { isRefusedWith, SocketHttp } from './socket-http.ts'

const signal = AbortSignal.timeout(60_000)
const get = { method: 'GET', path: '/', signal } as const

async function serve(t: TestContext, listener: RequestListener) {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-socket-'))
  const socketPath = join(directory, 's.sock')
  const sockets: Socket[] = []
  const server = createServer(listener).on('connection', (socket) => sockets.push(socket))
  const listen = () => new Promise<void>((resolve) => void server.listen(socketPath, resolve))
  await listen()
  t.after(async () => {
    server.closeAllConnections()
    for (const socket of sockets) socket.destroy()
    server.close()
    await rm(directory, { recursive: true })
  })
  return { http: new SocketHttp({ socketPath }), server, sockets }
}

test('json reads chunks, and returns undefined for an empty answer and for one that is not JSON', async (t) => {
  const { http } = await serve(t, ({ url }, response) => {
    if (url === '/empty') return void response.writeHead(204).end()
    if (url === '/text') return void response.end('OK')
    response.write('{"a":')
    response.end('[1,2]}')
  })
  assert.deepEqual(await http.json(get), { a: [1, 2] })
  assert.equal(await http.json({ ...get, path: '/empty' }), undefined)
  assert.equal(await http.json({ ...get, path: '/text' }), undefined)
})

test('query, body and files are sent as they are written', async (t) => {
  const { http } = await serve(t, async (request, response) => {
    const { 'content-type': type, 'content-length': length, 'transfer-encoding': encoding } = request.headers
    response.end(JSON.stringify([request.method, request.url, type, length ?? encoding, await text(request)]))
  })
  const query = { all: true, filters: { id: ['ä&b'] }, t: ['1', '2'], none: undefined }
  assert.deepEqual(
    Object(await http.json({ ...get, query }))[1],
    `/?${new URLSearchParams([
      ['all', 'true'],
      ['filters', '{"id":["ä&b"]}'],
      ['t', '1'],
      ['t', '2'],
    ])}`,
  )
  const json = await http.json({ ...get, method: 'POST', body: { name: 'ä' } })
  assert.deepEqual(json, ['POST', '/', 'application/json', '13', '{"name":"ä"}'])
  const whole = await http.json({ ...get, method: 'PUT', file: Buffer.from('tar') })
  assert.deepEqual(whole, ['PUT', '/', 'application/tar', '3', 'tar'])
  const stream = await http.json({ ...get, method: 'PUT', file: Readable.from(['t', 'ar']) })
  assert.deepEqual(stream, ['PUT', '/', 'application/tar', 'chunked', 'tar'])
})

test('a refusal has the status and the message of the program, in any format', async (t) => {
  const bodies: Readonly<Record<string, string>> = {
    '/json': '{"message":"no such image"}',
    '/text': ' no such image\n',
    '/number': '{"message":1}',
    '/empty': '',
  }
  const { http } = await serve(t, ({ url = '' }, response) => void response.writeHead(404).end(bodies[url]))
  const expected = { '/json': 'no such image', '/text': 'no such image', '/number': '{"message":1}', '/empty': '' }
  for (const [path, message] of Object.entries(expected)) {
    await assert.rejects(http.json({ ...get, path }), { name: 'SocketRefusal', status: 404, message })
  }
  await assert.rejects(http.stream(get), (error) => isRefusedWith(error, 409, 404) && !isRefusedWith(error, 409))
})

test('an answer that breaks off is an error, before its head, in it and in its body', async (t) => {
  const parts = ['', 'HTTP/1.1 200 OK\r\nContent-Le', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}']
  for (const part of parts) {
    const { http } = await serve(t, ({ socket }) => void socket.end(part))
    await assert.rejects(http.json({ ...get, method: 'POST' }), { code: 'ECONNRESET' }, JSON.stringify(part))
  }
})

test('an abort ends a call that waits and one that reads, with its reason', async (t) => {
  for (const isWaiting of [true, false]) {
    const arrived = Promise.withResolvers<void>()
    const left = Promise.withResolvers<void>()
    const { http } = await serve(t, (request, response) => {
      if (!isWaiting) response.write('[')
      request.socket.once('close', () => left.resolve())
      arrived.resolve()
    })
    const abort = new AbortController()
    const call = http.json({ ...get, signal: abort.signal })
    await arrived.promise
    abort.abort(new Error('no longer needed'))
    await assert.rejects(call, ({ name, cause }: Error) => name === 'AbortError' && /no longer/.test(String(cause)))
    await left.promise
  }
})

test('headers with bytes beyond ASCII are read, and those with line breaks are not sent', async (t) => {
  let asked = 0
  const { http } = await serve(t, (_, response) => {
    asked++
    response.writeHead(200, { 'x-name': Buffer.from('ä').toString('latin1') }).end('{}')
  })
  const answer = await http.stream(get)
  assert.equal(Buffer.from(String(answer.headers['x-name']), 'latin1').toString(), 'ä')
  answer.resume()
  for (const headers of [{ 'x-name': 'a\r\nb: c' }, { 'x name': 'a' }])
    await assert.rejects(http.json({ ...get, headers }), TypeError)
  await assert.rejects(http.json({ ...get, path: '/a b' }), TypeError)
  assert.equal(asked, 1)
})

test('a reading call replaces an idle connection that the program closed', async (t) => {
  const { http, sockets } = await serve(t, (_, response) => void response.end('{}'))
  await http.json(get)
  await http.json(get)
  assert.equal(sockets.length, 1)
  sockets[0]?.destroy()
  assert.deepEqual(await http.json(get), {})
  assert.equal(sockets.length, 2)
})

test('upgrade returns the connection with what came along, and a refusal if the program does not switch', async (t) => {
  const { http, server } = await serve(t, () => {})
  server.on('upgrade', ({ url = '' }, socket) => {
    if (url !== '/') return void socket.end('HTTP/1.1 409 Conflict\r\nContent-Length: 4\r\n\r\nbusy')
    socket.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\nhello')
    socket.pipe(socket)
  })
  const socket = await http.upgrade({ ...get, method: 'POST' }, 'tcp')
  socket.end(', world')
  assert.equal(await text(socket), 'hello, world')
  await assert.rejects(http.upgrade({ ...get, path: '/busy' }, 'tcp'), { status: 409, message: 'busy' })
  const { http: plain } = await serve(t, ({ url }, response) => {
    response.writeHead(url === '/no' ? 409 : 200).end('{}')
  })
  await assert.rejects(plain.upgrade(get, 'tcp'), { status: 200, message: 'the other side did not switch to tcp' })
  await assert.rejects(plain.upgrade({ ...get, path: '/no' }, 'tcp'), { status: 409 })
})

test('a file is released when its call fails', async (t) => {
  const { http } = await serve(t, ({ socket }) => void socket.destroy())
  const file = new Readable({ read() {} })
  file.push('begin')
  await assert.rejects(http.json({ ...get, method: 'PUT', file }), { code: /ECONNRESET|EPIPE/ })
  await until('the file is released', () => file.destroyed)
  const broken = new Readable({
    read() {
      this.destroy(new Error('the disk failed'))
    },
  })
  await assert.rejects(http.json({ ...get, method: 'PUT', file: broken }), /the disk failed/)
})

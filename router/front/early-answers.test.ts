import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import test, { type TestContext } from 'node:test'
import { haproxy, missingHaproxy } from '../../test/support/haproxy.ts'
import { until } from '../../test/support/until.ts'
import { beds, portOf, testBed } from '../test-bed.ts'

beds.haproxy = haproxy
const skip = (await missingHaproxy()) ?? false
const size = 8 * 1024 * 1024

/** HAProxy alone carries small requests of a route with these rules. */
const rules = { maxBodyBytes: 2 * size, readTimeoutMs: 60_000, sendTimeoutMs: 60_000, clientTimeoutMs: 60_000 }

/** Sends the head of an upload and its whole body. Returns the answer once it is complete. */
async function upload(t: TestContext, listener: RequestListener) {
  const bed = await testBed(t)
  const app = await bed.application((request, response) => {
    if (request.method === 'GET') response.end('next')
    else listener(request, response)
  })
  await bed.lead([portOf(app)], { rules })
  const socket = bed.raw(`POST / HTTP/1.1\r\nHost: app.localhost\r\nContent-Length: ${size}\r\n\r\n`)
  const seen = { text: '', isClosed: false }
  socket.on('data', (chunk) => {
    seen.text += chunk
  })
  socket.on('close', () => {
    seen.isClosed = true
  })
  socket.write(Buffer.alloc(size))
  await until('the answer is whole', () => seen.text.endsWith('too large'), { limitMs: 8_000 })
  assert.match(seen.text, /^HTTP\/1\.1 413 /)
  return { bed, socket, seen }
}

test('an application that refuses a body and reads the rest is heard behind HAProxy', { skip }, async (t) => {
  const { socket, seen } = await upload(t, (request, response) => {
    response.writeHead(413, { 'content-length': 9 })
    response.end('too large', () => request.resume())
  })
  socket.write('GET / HTTP/1.1\r\nHost: app.localhost\r\nConnection: close\r\n\r\n')
  await until('the connection ends', () => seen.isClosed, { limitMs: 8_000 })
  assert.match(seen.text, /next$|too large$/)
})

test('a client that leaves after an early answer leaves nothing open behind HAProxy', { skip }, async (t) => {
  const { bed, socket } = await upload(t, (_, response) => {
    response.writeHead(413, { 'content-length': 9 })
    response.end('too large')
  })
  socket.destroy()
  const activity = async () => JSON.stringify((await bed.tell('GET', '/activity')).body)
  await until('nothing is open', async () => (await activity()).includes('"open":0'))
  assert.equal((await bed.ask()).body, 'next')
})

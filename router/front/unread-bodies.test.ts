import assert from 'node:assert/strict'
import test from 'node:test'
import { haproxy, isHaproxySince, missingHaproxy } from '../../test/support/haproxy.ts'
import { until } from '../../test/support/until.ts'
import { sleep } from '../clock.ts'
import { beds, portOf, testBed } from '../test-bed.ts'

beds.haproxy = haproxy
const skip = (await missingHaproxy()) ?? false

/**
 * Since 3.0, HAProxy reads the rest of a body after the answer, until the client is silent for a
 * minute.
 */
const readsOn = skip === false && (await isHaproxySince(3))
const closedWithinMs = readsOn ? 80_000 : 10_000

const form = (fields: string, body: string): string =>
  `POST / HTTP/1.1\r\nHost: app.localhost\r\n${fields}\r\n\r\n${body}`

test('a client that stops in its body is disconnected after its answer behind HAProxy', { skip }, async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((request) => void request.resume())
  await bed.lead([portOf(app)], { rules: { requestTimeoutMs: 500 } })
  const requests = [
    form('Content-Length: 1000', 'a part'),
    form('Content-Length: 50000000', 'a'.repeat(100_000)),
    form('Transfer-Encoding: chunked', '5\r\nhello\r\n'),
    form('Accept: text/html\r\nContent-Length: 1000', 'a part'),
  ]
  const answers = requests.map(async (bytes) => {
    const socket = bed.raw(bytes)
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    await until('the connection is closed', () => socket.closed, { limitMs: closedWithinMs })
    return text
  })
  const [json = '', large = '', chunked = '', html = ''] = await Promise.all(answers)
  for (const text of [json, large, chunked]) {
    assert.match(text, /^HTTP\/1\.1 504 [\s\S]*\r\ncontent-type: application\/json; charset=utf-8\r\n/i)
    assert.match(text, /\r\n\r\n\{"status":504,[^\n]*shop did not answer within 0\.5 s\.[^\n]*\}$/)
    assert.match(text, /\r\ncache-control: no-store\r\n/i)
    assert.equal(text.match(/\r\nconnection: close\r\n/gi)?.length, 1, text)
    assert.doesNotMatch(text, /x-quayside-page/i)
  }
  assert.match(
    html,
    /\r\ncontent-type: text\/html; charset=utf-8\r\n[\s\S]*<html[\s\S]*shop did not answer within 0\.5 s/i,
  )
  assert.doesNotMatch(html, /%0A/)
})

test('a slow upload is not cut off behind HAProxy', { skip }, async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((request, response) => {
    request.resume().once('end', () => response.end('whole'))
  })
  await bed.lead([portOf(app)])
  const socket = bed.raw(form('Content-Length: 10', ''))
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  for (let count = 0; count < 10; count++) {
    await sleep(200)
    socket.write('a')
  }
  await until('the answer has arrived', () => text.includes('whole'))
})

test('an application cannot have HAProxy send a page of its own', { skip }, async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((request, response) => {
    response.writeHead(504, { 'X-Quayside-Page': Buffer.from('evil').toString('base64') })
    request.resume().once('end', () => response.end('own'))
  })
  await bed.lead([portOf(app)], { rules: { requestTimeoutMs: 5_000 } })
  const { status, body } = await bed.ask({ method: 'POST', body: 'a body' })
  assert.deepEqual([status, body], [504, 'own'])
})

test('an upload whose application ends its connection is answered at once behind HAProxy', { skip }, async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((request) => void request.once('data', () => request.socket.destroy()))
  await bed.lead([portOf(app)])
  const socket = bed.raw(form('Transfer-Encoding: chunked', '5\r\nhello\r\n'))
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  await until('the answer has arrived', () => text.includes('shop ended the connection before it answered'))
  assert.match(text, /^HTTP\/1\.1 502 [\s\S]*\r\nconnection: close\r\n/i)
  if (readsOn) socket.end()
  await until('the connection is closed', () => socket.closed, { limitMs: 10_000 })
})

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { type IncomingMessage, request } from 'node:http'
import { connect as connectSession } from 'node:http2'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { brotliDecompressSync, createGunzip, gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { Route } from '@quayside/contract/routes.ts'
import { endAfter } from '../test/support/http2-session.ts'
import { issued } from '../test/support/issued.ts'
import { until } from '../test/support/until.ts'
import { limits } from './limits.ts'
import { moreThanBuffers, portOf, type TestBed, testBed } from './test-bed.ts'

const compressing: Partial<Route> = { rules: { compression: true } }
const text = 'a line of text that compresses well\n'.repeat(2_000)

/** Asks for a path and returns the bytes of the body as they arrive. */
async function asked(bed: TestBed, headers: Readonly<Record<string, string>>, path = '/', method = 'GET') {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { host: '127.0.0.1', port: bed.router.port, path, method, agent: false }
    request({ ...options, headers: { host: 'app.localhost', ...headers } }, resolve)
      .on('error', reject)
      .end()
  })
  return { headers: answer.headers, status: answer.statusCode, body: await buffer(answer) }
}

async function started(
  t: { after(work: () => Promise<void>): void },
  options: Parameters<typeof testBed>[1] = {},
  host = 'app.localhost',
) {
  const bed = await testBed(t, options)
  const application = await bed.application((incoming, response) => {
    const length = incoming.url === '/stream' ? {} : { 'Content-Length': String(text.length) }
    response.writeHead(200, { 'Content-Type': 'text/plain', ETag: '"one"', ...length })
    response.end(text)
  })
  await bed.lead([portOf(application)], { ...compressing, host })
  return bed
}

const decoders = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync } as const

for (const [coding, decode] of Object.entries(decoders)) {
  test(`a response is compressed with ${coding}`, async (t) => {
    const bed = await started(t)
    for (const path of ['/', '/stream']) {
      const { headers, body } = await asked(bed, { 'accept-encoding': coding }, path)
      assert.deepEqual(
        [headers['content-encoding'], headers.vary, headers.etag],
        [coding, 'Accept-Encoding', 'W/"one"'],
      )
      assert.equal(headers['content-length'], undefined)
      assert.ok(body.length < text.length / 10, String(body.length))
      assert.equal(decode(body).toString(), text)
    }
  })
}

test('curl and fetch read compressed responses', async (t) => {
  const bed = await started(t, {}, '127.0.0.1')
  const address = `http://127.0.0.1:${bed.router.port}/`
  const { stdout, stderr } = await promisify(execFile)('curl', ['-sSv', '--compressed', address])
  assert.equal(stdout, text)
  assert.match(stderr, /content-encoding: (?:zstd|br|gzip)/i)
  const answer = await fetch(address)
  assert.match(answer.headers.get('content-encoding') ?? '', /zstd|br|gzip/)
  assert.equal(await answer.text(), text)
})

test('a route without the rule, a client without a coding, and HEAD get no compressed body', async (t) => {
  const bed = await started(t)
  const head = await asked(bed, { 'accept-encoding': 'gzip' }, '/', 'HEAD')
  assert.deepEqual([head.headers['content-encoding'], head.headers.etag, head.body.length], ['gzip', 'W/"one"', 0])
  const plain = await asked(bed, {})
  assert.deepEqual([plain.body.toString(), plain.headers.vary, plain.headers.etag], [text, 'Accept-Encoding', '"one"'])
  const application = await bed.application((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/plain' })
    response.end(text)
  })
  await bed.lead([portOf(application)])
  const other = await asked(bed, { 'accept-encoding': 'gzip' })
  assert.deepEqual([other.headers['content-encoding'], other.headers.vary], [undefined, undefined])
})

test('a client sees each event of a stream at once', async (t) => {
  const bed = await testBed(t)
  let send: ((text: string) => void) | undefined
  const application = await bed.application((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    send = (text) => void response.write(text)
  })
  await bed.lead([portOf(application)], compressing)
  const seen: string[] = []
  const options = { host: '127.0.0.1', port: bed.router.port, agent: false }
  const sent = request({ ...options, headers: { host: 'app.localhost', 'accept-encoding': 'gzip' } }, (answer) => {
    answer
      .pipe(createGunzip())
      .on('data', (part) => seen.push(String(part)))
      .on('error', () => {})
  })
  sent.on('error', () => {}).end()
  await until('the application has the request', () => send !== undefined)
  for (let event = 1; event <= 5; event++) {
    send?.(`data: ${event}\n\n`)
    await until('the event arrives', () => seen.join('').includes(`data: ${event}\n`))
  }
  sent.destroy()
})

test('a response over HTTP/2 is compressed', async (t) => {
  const bed = await started(t, { tlsPort: 0 })
  const certificates = [{ host: 'own.lab.test', chain: issued.cert + issued.intermediate, key: issued.key }]
  await bed.tell('PUT', '/tls', { certificates, challenges: [], mark: 'one' })
  const application = await bed.application((_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' })
    response.end(text)
  })
  await bed.lead([portOf(application)], { ...compressing, host: 'own.lab.test' })
  const session = connectSession(`https://127.0.0.1:${bed.router.tlsPort}`, {
    servername: 'own.lab.test',
    ca: issued.root,
  })
  endAfter(t, session)
  const stream = session.request({ ':authority': 'own.lab.test', 'accept-encoding': 'br' })
  const head = new Promise<Record<string, unknown>>((resolve) => stream.once('response', resolve))
  const body = await buffer(stream)
  assert.equal((await head)['content-encoding'], 'br')
  assert.equal(brotliDecompressSync(body).toString(), text)
})

test('a client that reads slowly stops the endpoint, and its end ends the compressor', async (t) => {
  const bed = await testBed(t)
  let written = 0
  let isGone = false
  const noise = Buffer.from(Array.from({ length: 64 * 1024 }, () => Math.floor(Math.random() * 256)))
  const application = await bed.application((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/plain' })
    const more = (): void => {
      while (!isGone) {
        written += noise.length
        if (!response.write(noise)) return void response.once('drain', more)
      }
    }
    response.on('close', () => {
      isGone = true
    })
    more()
  })
  await bed.lead([portOf(application)], compressing)
  const options = { host: '127.0.0.1', port: bed.router.port, agent: false }
  const sent = request({ ...options, headers: { host: 'app.localhost', 'accept-encoding': 'gzip' } }, (answer) => {
    answer.pause()
  })
  sent.on('error', () => {}).end()
  let last = -1
  const isStill = () => {
    const before = last
    last = written
    return written === before && written > 0
  }
  await until('the application waits', isStill, { everyMs: 300 })
  assert.ok(written < moreThanBuffers, `${written} bytes`)
  sent.destroy()
  await until('the request of the application ends', () => isGone)
})

test('more responses than the limit are sent unchanged, and room is free again after them', async (t) => {
  const bed = await testBed(t)
  const application = await bed.application((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/plain' })
    response.write('begun\n')
  })
  await bed.lead([portOf(application)], compressing)
  const open = async () => {
    const options = { host: '127.0.0.1', port: bed.router.port, agent: false }
    return new Promise<{ coding: string | undefined; end: () => void }>((resolve, reject) => {
      const headers = { host: 'app.localhost', 'accept-encoding': 'zstd' }
      const sent = request({ ...options, headers }, (answer) => {
        answer.on('error', () => {}).resume()
        resolve({ coding: answer.headers['content-encoding'], end: () => sent.destroy() })
      })
      sent.on('error', reject).end()
    })
  }
  const all = await Promise.all(Array.from({ length: limits.compressorsPerService + 8 }, open))
  assert.equal(all.filter(({ coding }) => coding === 'zstd').length, limits.compressorsPerService)
  for (const { end } of all) end()
  await until('a later one is compressed', async () => {
    const { coding, end } = await open()
    end()
    return coding === 'zstd'
  })
})

test('a response that its endpoint breaks off is broken off for the client', async (t) => {
  const bed = await testBed(t)
  const application = await bed.application((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/plain' })
    response.write(text)
    setImmediate(() => response.destroy())
  })
  await bed.lead([portOf(application)], compressing)
  await assert.rejects(asked(bed, { 'accept-encoding': 'gzip' }), /aborted|hang up|ECONNRESET/)
})

import assert from 'node:assert/strict'
import test from 'node:test'
import { portOf, type TestBed, testBed, untilClosed } from './test-bed.ts'

/** Sends bytes that hide a second request, then reads until the router closes the connection. */
async function attack(bed: TestBed, bytes: string): Promise<string> {
  return untilClosed(bed.raw(bytes))
}

async function guardedBed(t: Parameters<typeof testBed>[0]): Promise<{ bed: TestBed; seen: string[] }> {
  const bed = await testBed(t)
  const seen: string[] = []
  const app = await bed.application((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    request.resume().on('end', () => response.end('ok'))
  })
  await bed.lead([portOf(app)])
  return { bed, seen }
}

const hidden = 'GET /hidden HTTP/1.1\r\nHost: app.localhost\r\n\r\n'
const head = 'POST /first HTTP/1.1\r\nHost: app.localhost\r\n'

const smuggling: Record<string, string> = {
  'Content-Length and Transfer-Encoding': `${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
  'Transfer-Encoding and Content-Length': `${head}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${hidden}`,
  'two lengths': `${head}Content-Length: 0\r\nContent-Length: 44\r\n\r\n${hidden}`,
  'two lengths in one': `${head}Content-Length: 0, 44\r\n\r\n${hidden}`,
  'signed length': `${head}Content-Length: +44\r\n\r\n${hidden}`,
  'hexadecimal length': `${head}Content-Length: 0x2c\r\n\r\n${hidden}`,
  'unknown coding': `${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${hidden}`,
  'coding twice': `${head}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
  'coding and identity': `${head}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${hidden}`,
  'coding list': `${head}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n${hidden}`,
  'vertical tab in coding': `${head}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n${hidden}`,
  'space before colon': `${head}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${hidden}`,
  'tab before colon': `${head}Content-Length\t: 44\r\n\r\n${hidden}`,
  'folded header': `${head}X: a\r\n Transfer-Encoding: chunked\r\n\r\n${hidden}`,
  'bare line feed': `${head}X: a\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
  'bare carriage return': `${head}X: a\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
  'NUL in a value': `${head}X: a\x00b\r\n\r\n${hidden}`,
  'coding in HTTP/1.0': `POST / HTTP/1.0\r\nHost: app.localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
  'bad chunk size': `${head}Transfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n${hidden}`,
  'chunk size beyond all bounds': `${head}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\na\r\n0\r\n\r\n${hidden}`,
  'chunk without its end': `${head}Transfer-Encoding: chunked\r\n\r\n1\r\naX\r\n0\r\n\r\n${hidden}`,
}

for (const [name, bytes] of Object.entries(smuggling)) {
  test(`the router passes no hidden second request: ${name}`, async (t) => {
    const { bed, seen } = await guardedBed(t)
    const text = await attack(bed, bytes)
    assert.match(text, /^HTTP\/1.1 400 /)
    assert.equal(text.match(/HTTP\/1\.1 \d/g)?.length, 1, text)
    assert.ok(!seen.includes('GET /hidden'), seen.join())
  })
}

test('the router normalizes chunk extensions and the body of a GET', async (t) => {
  const { bed, seen } = await guardedBed(t)
  const closing = 'GET /last HTTP/1.1\r\nHost: app.localhost\r\nConnection: close\r\n\r\n'
  const chunked = `${head}Transfer-Encoding: Chunked\r\n\r\n1;a=b\r\nx\r\n0\r\n\r\n${closing}`
  const text = await attack(bed, chunked)
  assert.deepEqual(text.match(/HTTP\/1.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 200'])
  const withBody = `GET /get HTTP/1.1\r\nHost: app.localhost\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}${closing}`
  await attack(bed, withBody)
  assert.deepEqual(seen, ['POST /first', 'GET /last', 'GET /get', 'GET /last'])
})

const hosts: Record<string, string> = {
  'no host': 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n',
  'empty host': 'GET / HTTP/1.1\r\nHost: \r\n\r\n',
  'two hosts': 'GET / HTTP/1.1\r\nHost: app.localhost\r\nHost: other.localhost\r\n\r\n',
  'user in host': 'GET / HTTP/1.1\r\nHost: a@app.localhost\r\n\r\n',
  'path in host': 'GET / HTTP/1.1\r\nHost: app.localhost/x\r\n\r\n',
  'space in host': 'GET / HTTP/1.1\r\nHost: app.localhost x\r\n\r\n',
  'markup in host': 'GET / HTTP/1.1\r\nHost: <script>\r\n\r\n',
  'bad port': 'GET / HTTP/1.1\r\nHost: app.localhost:80a\r\n\r\n',
  'absolute target': 'GET http://app.localhost/ HTTP/1.1\r\nHost: app.localhost\r\n\r\n',
  'target without path': 'OPTIONS * HTTP/1.1\r\nHost: app.localhost\r\n\r\n',
}

for (const [name, bytes] of Object.entries(hosts)) {
  test(`the router rejects an ambiguous host: ${name}`, async (t) => {
    const { bed, seen } = await guardedBed(t)
    assert.match(await attack(bed, bytes), /^HTTP\/1.1 400 /)
    assert.deepEqual(seen, [])
  })
}

test('the router rejects CONNECT and oversized headers', async (t) => {
  const { bed, seen } = await guardedBed(t)
  assert.match(await attack(bed, 'CONNECT app.localhost:80 HTTP/1.1\r\nHost: app.localhost\r\n\r\n'), /^HTTP\/1.1 405 /)
  const large = `GET / HTTP/1.1\r\nHost: app.localhost\r\nX: ${'a'.repeat(40_000)}\r\n\r\n`
  assert.match(await attack(bed, large), /^HTTP\/1.1 431 /)
  assert.deepEqual(seen, [])
})

test('an application cannot inject a response header with a line break', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((_, response) => {
    response.socket?.end('HTTP/1.1 200 OK\r\nX: a\nSet-Cookie: stolen=1\r\nContent-Length: 0\r\n\r\n')
  })
  await bed.lead([portOf(app)])
  const answer = await bed.ask()
  assert.equal(answer.status, 502)
  assert.equal(answer.headers['set-cookie'], undefined)
})

test('Connection cannot remove the headers for framing and the sender', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((request, response) => {
    request.resume().on('end', () => response.end(JSON.stringify(request.headers)))
  })
  await bed.lead([portOf(app)])
  const names = 'content-length, host, x-forwarded-for, x-forwarded-host, cookie'
  const bytes = `${head}Connection: close, ${names}\r\nContent-Length: 3\r\nCookie: a\r\n\r\nabc`
  const text = await attack(bed, bytes)
  const headers = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1))
  assert.deepEqual(
    [headers.host, headers['content-length'], headers['x-forwarded-for'], headers['x-forwarded-host'], headers.cookie],
    ['app.localhost', '3', '127.0.0.1', 'app.localhost', undefined],
  )
})

test('the router drops headers that a CGI program mistakes for others', async (t) => {
  const bed = await testBed(t, { trusted: ['127.0.0.1'] })
  const app = await bed.application((request, response) => response.end(JSON.stringify(request.rawHeaders)))
  await bed.lead([portOf(app)])
  const vouched = [
    'X-Forwarded-For',
    'X-Forwarded-Proto',
    'X-Real-IP',
    'Host',
    'Content-Length',
    'Authorization',
    'Cookie',
  ]
  const lies = vouched.flatMap((name) =>
    ['_', '.', '!', '~', '|'].map((mark) => name.replaceAll('-', mark) + (name.includes('-') ? '' : mark)),
  )
  const lines = [...lies, 'Proxy', 'PROXY', 'X-Plain'].map((name) => `${name}: lie-${name}\r\n`).join('')
  const text = await attack(bed, `GET / HTTP/1.1\r\nHost: app.localhost\r\nConnection: close\r\n${lines}\r\n`)
  assert.match(text, /^HTTP\/1\.1 200 /)
  assert.deepEqual(text.match(/lie-[^"]*/g), ['lie-X-Plain'])
})

test('the router rejects a request with two credentials', async (t) => {
  const { bed, seen } = await guardedBed(t)
  const lines = 'Authorization: Basic YTpi\r\nauthorization: Basic YzpkCg==\r\n'
  assert.match(await attack(bed, `${head}${lines}Content-Length: 0\r\n\r\n`), /^HTTP\/1\.1 400 /)
  assert.deepEqual(seen, [])
})

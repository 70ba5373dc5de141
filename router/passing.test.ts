import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { createServer } from 'node:net'
import test from 'node:test'
import { until } from '../test/support/until.ts'
import { beds, portOf, testBed, textOf, untilClosed } from './test-bed.ts'

test('the router forwards method, path, headers and body, and returns the response', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application(async (request, response) => {
    const body = await textOf(request)
    response.writeHead(201, 'Made', [
      'X-One',
      'a',
      'Set-Cookie',
      'a=1',
      'Set-Cookie',
      'b=2',
      'Content-Type',
      'text/plain',
    ])
    response.end(`${request.method} ${request.url} ${request.headers.host} ${request.headers['x-odd']} ${body}`)
  })
  await bed.lead([portOf(app)])
  const ask = {
    host: 'App.LocalHost.:8080',
    method: 'PUT',
    path: '/a%20b/..;/?x=1&y=[]',
    headers: { 'X-Odd': 'a; b="c"' },
  }
  const answer = await bed.ask({ ...ask, body: 'hello' })
  assert.equal(answer.status, 201)
  assert.equal(answer.body, 'PUT /a%20b/..;/?x=1&y=[] App.LocalHost.:8080 a; b="c" hello')
  const sent = ['X-One', 'a', 'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'Content-Type', 'text/plain']
  // HAProxy writes names in lower case.
  const seen = beds.haproxy ? sent.map((text, index) => (index % 2 ? text : text.toLowerCase())) : sent
  assert.deepEqual(answer.rawHeaders.slice(0, 8), seen)
})

test('header values keep their non-ASCII bytes', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((request, response) => {
    response.writeHead(200, { 'X-Echo': `${request.headers['x-odd']}` })
    response.end(request.headers['x-odd'] === 'é\xff' ? 'same' : 'other')
  })
  await bed.lead([portOf(app)])
  const answer = await bed.ask({ headers: { 'X-Odd': 'é\xff' } })
  assert.equal(answer.body, 'same')
  assert.equal(answer.headers['x-echo'], 'é\xff')
})

test('header values keep their non-ASCII bytes when the body comes later', async (t) => {
  const bed = await testBed(t)
  const app = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nX-Echo: \xe9\xff\r\nContent-Length: 5\r\n\r\n', 'latin1')
      setTimeout(() => socket.end('later'), 100)
    })
  })
  await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve))
  t.after(() => app.close())
  await bed.lead([portOf(app)])
  const { headers, body } = await bed.ask()
  assert.deepEqual([headers['x-echo'], body], ['\xe9\xff', 'later'])
})

test('the router keeps connections alive on both sides', async (t) => {
  const bed = await testBed(t)
  let connections = 0
  const app = await bed.application((_, response) => response.end('ok'))
  app.on('connection', () => connections++)
  await bed.lead([portOf(app)])
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  for (let count = 0; count < 20; count++) {
    const { headers } = await bed.ask({ agent })
    assert.equal(headers['keep-alive'], 'timeout=72')
  }
  assert.equal(connections, 1)
  assert.equal(Object.values(agent.freeSockets).flat().length, 1)
})

test('the router names the sender to the application and trusts no client about it', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((request, response) => response.end(JSON.stringify(request.rawHeaders)))
  await bed.lead([portOf(app)])
  const lies = ['X-Forwarded-For', 'x-forwarded-PROTO', 'X-Forwarded-Host', 'X-Forwarded-Port', 'X-Forwarded-Prefix']
  const others = ['Forwarded', 'X-Real-IP', 'X_Forwarded_For', 'X-Forwarded_Proto', 'X_Real_IP', 'Proxy', 'X_Any']
  const headers = Object.fromEntries([...lies, ...others].map((name) => [name, 'evil']))
  const { body } = await bed.ask({ host: 'app.localhost:8080', headers })
  assert.ok(!body.includes('evil'), body)
  const raw: string[] = JSON.parse(body)
  const value = (name: string): string | undefined => raw[raw.indexOf(name) + 1]
  assert.equal(value('X-Forwarded-For'), '127.0.0.1')
  assert.equal(value('X-Forwarded-Proto'), 'http')
  assert.equal(value('X-Forwarded-Host'), 'app.localhost:8080')
  assert.equal(value('X-Forwarded-Port'), String(bed.router.port))
  assert.equal(value('X-Real-IP'), '127.0.0.1')
})

/** Returns the headers that an application receives when a request came through a trusted proxy. */
async function seenBehindProxy(t: Parameters<typeof testBed>[0], headers: Readonly<Record<string, string | string[]>>) {
  const bed = await testBed(t, { trusted: ['127.0.0.0/8', '10.0.0.0/8'] })
  const app = await bed.application((request, response) => response.end(JSON.stringify(request.headers)))
  await bed.lead([portOf(app)])
  const seen = JSON.parse((await bed.ask({ headers })).body)
  const told = ['for', 'proto', 'host', 'port'].map((name) => seen[`x-forwarded-${name}`])
  return { port: String(bed.router.port), seen, told: [...told, seen['x-real-ip']] }
}

test('the router forwards the sender that a trusted proxy names', async (t) => {
  const { told } = await seenBehindProxy(t, { 'X-Forwarded-For': '9.9.9.9', 'X-Forwarded-Proto': 'https' })
  assert.deepEqual(told, ['9.9.9.9, 127.0.0.1', 'https', 'app.localhost', '443', '9.9.9.9'])
})

test('the router forwards the host name and port that a trusted proxy names', async (t) => {
  const headers = { 'X-Forwarded-Proto': 'HTTPS', 'X-Forwarded-Host': 'shop.example.org', 'X-Forwarded-Port': '8443' }
  const { told } = await seenBehindProxy(t, { ...headers, 'X-Forwarded-For': '9.9.9.9, 10.1.1.1' })
  assert.deepEqual(told, ['9.9.9.9, 10.1.1.1, 127.0.0.1', 'https', 'shop.example.org', '8443', '9.9.9.9'])
})

test('the router drops what a client claimed about itself to a trusted proxy', async (t) => {
  const { told, seen } = await seenBehindProxy(t, {
    'X-Forwarded-For': ['1.1.1.1', '2.2.2.2, 9.9.9.9'],
    'X-Forwarded-Proto': 'https, http',
    'X-Forwarded-Host': 'evil.example, app.localhost',
    'X-Forwarded-Port': '1, 80',
    'X-Real-IP': '1.1.1.1',
    Forwarded: 'for=1.1.1.1',
    X_Forwarded_For: '1.1.1.1',
    'X-Forwarded_User': 'admin',
    'X-Forwarded-User': 'ann',
  })
  assert.deepEqual(told, ['9.9.9.9, 127.0.0.1', 'http', 'app.localhost', '80', '9.9.9.9'])
  assert.equal(seen['x-forwarded-user'], 'ann')
  assert.ok(!/1\.1\.1\.1|admin/.test(JSON.stringify(seen)), JSON.stringify(seen))
})

test('the router ignores invalid values of a trusted proxy', async (t) => {
  const headers = { 'X-Forwarded-Proto': 'gopher', 'X-Forwarded-Host': 'a b', 'X-Forwarded-Port': 'x' }
  const { told } = await seenBehindProxy(t, { ...headers, 'X-Forwarded-For': 'unknown' })
  assert.deepEqual(told, ['127.0.0.1', 'http', 'app.localhost', '80', '127.0.0.1'])
})

test('the router does not forward hop-by-hop headers', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((request, response) => {
    response.writeHead(200, ['Connection', 'keep-alive, X-Hop', 'X-Hop', '1', 'X-Stay', '1', 'Proxy-Connection', 'x'])
    response.end(JSON.stringify(request.headers))
  })
  await bed.lead([portOf(app)])
  const headers = {
    Connection: 'X-Mine, keep-alive',
    'X-Mine': '1',
    TE: 'trailers',
    'Proxy-Authorization': 'x',
    'X-Keep': '1',
  }
  const answer = await bed.ask({ headers })
  const seen = JSON.parse(answer.body)
  assert.deepEqual(
    [seen['x-mine'], seen.te, seen['proxy-authorization'], seen['x-keep']],
    [undefined, undefined, undefined, '1'],
  )
  assert.equal(answer.headers['x-hop'], undefined)
  assert.equal(answer.headers['proxy-connection'], undefined)
  assert.equal(answer.headers['x-stay'], '1')
})

test('responses to HEAD, 204 and 304 have no body and keep the connection usable', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((request, response) => {
    const status = Number(request.url?.slice(1))
    response.writeHead(status, status === 200 ? { 'Content-Length': 5 } : {})
    response.end(status === 200 && request.method !== 'HEAD' ? 'hello' : '')
  })
  await bed.lead([portOf(app)])
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  assert.equal((await bed.ask({ method: 'HEAD', path: '/200', agent })).headers['content-length'], '5')
  for (const path of ['/204', '/304']) assert.equal((await bed.ask({ path, agent })).status, Number(path.slice(1)))
  assert.equal((await bed.ask({ path: '/200', agent })).body, 'hello')
})

test('the router forwards the trailers of a response', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((_, response) => {
    response.writeHead(200, { Trailer: 'X-Sum' })
    response.write('body')
    response.addTrailers({ 'X-Sum': '42' })
    response.end()
  })
  await bed.lead([portOf(app)])
  const answer = await bed.ask()
  assert.deepEqual([answer.body, answer.trailers['x-sum']], ['body', '42'])
})

test('pipelined requests are answered in order, one at a time', async (t) => {
  const bed = await testBed(t)
  let open = 0
  let most = 0
  const app = await bed.application((request, response) => {
    most = Math.max(most, ++open)
    setImmediate(() => {
      open--
      response.end(`<${request.url}>`)
    })
  })
  await bed.lead([portOf(app)])
  const paths = Array.from({ length: 200 }, (_, index) => `/${index}`)
  const requests = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: app.localhost\r\n\r\n`)
  const socket = bed.raw(`${requests.join('')}GET /end HTTP/1.1\r\nHost: app.localhost\r\nConnection: close\r\n\r\n`)
  const text = await untilClosed(socket)
  assert.deepEqual(
    [...text.matchAll(/<(.*?)>/g)].map((match) => match[1]),
    [...paths, '/end'],
  )
  assert.equal(most, 1)
})

test('an error page is HTML for browsers and JSON for other clients', async (t) => {
  const bed = await testBed(t)
  await bed.lead([], { name: '<b>shop', reason: 'stopped' })
  const json = await bed.ask({ host: 'other.localhost' })
  assert.equal(json.status, 404)
  const message = 'No application answers at other.localhost. Check the address, or add this domain to a service.'
  assert.deepEqual(JSON.parse(json.body), { status: 404, error: 'Not Found', message, detail: message })
  assert.equal(json.headers['cache-control'], 'no-store')
  const page = await bed.ask({ headers: { accept: 'text/html,*/*' } })
  assert.equal(page.status, 503)
  assert.equal(page.headers['retry-after'], '5')
  assert.match(page.body, /&#60;b&#62;shop is not available: stopped\./)
  assert.ok(!page.body.includes('<b>'))
  assert.equal((await bed.ask({ method: 'HEAD' })).status, 503)
})

test('an invalid response becomes 502, and a truncated one is cut off', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((request, response) => {
    if (request.url === '/nonsense') response.socket?.end('HTTP/1.1 200 OK\r\nBad Header: x\r\n\r\n')
    else if (request.url === '/both')
      response.socket?.end('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n')
    else if (request.url === '/coding')
      response.socket?.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n')
    else {
      response.writeHead(200, { 'Content-Length': 10 })
      response.write('half', () => response.destroy())
    }
  })
  await bed.lead([portOf(app)])
  // HAProxy reads the chunked body of an answer that has a length too, and drops the length.
  for (const path of ['/nonsense', ...(beds.haproxy ? [] : ['/both']), '/coding']) {
    const answer = await bed.ask({ path })
    assert.equal(answer.status, 502, path)
    // HAProxy does not know the name of the service.
    assert.match(answer.body, beds.haproxy ? /The application/ : /shop sent an answer that is not valid HTTP/)
  }
  await assert.rejects(bed.ask({ path: '/half' }))
  await until('the router lives', async () => (await bed.tell('GET', '/health')).body['counts'] !== undefined)
})

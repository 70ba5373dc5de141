import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { assertError } from '../contract/requests.ts'
import { createPlatform } from '../support/platform.ts'

/** Group E: input that HTTP, JSON and field types accept. */
const platform = await createPlatform({ after })
const { a, call } = platform
const token = a.tokens.ADMIN
const projects = `/organization/${a.organizationId}/project`
const post = (body: unknown, headers: Record<string, string> = {}) => call(token, 'POST', projects, body, headers)

const malformed: Record<string, string | Buffer> = {
  'E2 a truncated body': '{"name":"a',
  'E2 a trailing comma': '{"name":"a",}',
  'E2 comments': '{"name":"a"/**/}',
  'E2 NaN': '{"name":NaN}',
  'E2 single quotes': "{'name':'a'}",
  'E2 null': 'null',
  'E2 a list': '[]',
  'E2 a text': '"x"',
  'E5 a deep list': '['.repeat(100_000) + ']'.repeat(100_000),
  'E5 a deep object': `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`,
  'E8 duplicate keys': '{"name":"a","name":"b"}',
  'E9 a prototype': '{"name":"a","__proto__":{"polluted":1}}',
  'E9 an escaped prototype': '{"name":"a","\\u005f_proto__":{}}',
  'E9 a constructor’s prototype': '{"name":"a","constructor":{"prototype":{"polluted":1}}}',
  'E11 an escaped NUL': '{"name":"a\\u0000b"}',
  'E12 a lone surrogate': '{"name":"\\ud800"}',
  'E13 overlong UTF-8': Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')]),
  'E15 an empty name': '{"name":""}',
  'E15 a name of blanks': '{"name":"  \\u00a0"}',
  'E15 a right-to-left override': '{"name":"a\\u202eb"}',
  'E15 a zero-width joiner': '{"name":"a\\u200bb"}',
  'E15 256 characters': JSON.stringify({ name: 'a'.repeat(256) }),
  'E33 a number for a text': '{"name":5}',
  'E33 a list for a text': '{"name":["a"]}',
}
for (const [what, body] of Object.entries(malformed)) {
  test(`${what} is refused, and nothing changes`, async () => {
    const before = await platform.fingerprint()
    assertError(await post(body), 400)
    assert.deepEqual(await platform.fingerprint(), before)
    assert.equal('polluted' in {}, false)
  })
}

for (const type of [
  'text/plain',
  'application/xml',
  'application/merge-patch+json',
  'application/json\ta',
  'multipart/form-data',
  'application/json; charset=utf-16',
]) {
  test(`E3 E4 the content type ${JSON.stringify(type)} is refused`, async () => {
    assertError(await post('{"name":"typed"}', { 'content-type': type }), 415)
  })
}

test('E6 a body beyond the limit is refused', async () => {
  assertError(await post(JSON.stringify({ name: 'a', description: 'x'.repeat(300_000) })), 413)
})

test('E7 a compressed body is refused', async () => {
  for (const encoding of ['gzip', 'br', 'deflate', 'gzip, gzip']) {
    assertError(await post('{"name":"a"}', { 'content-encoding': encoding }), 415)
  }
})

test('E14 E15 E22 E32 odd but valid input is stored unchanged', async () => {
  for (const [index, text] of [
    '<script>alert(1)</script>',
    "'; drop table project; --",
    '=1+1',
    '💥 ünï',
    '%s%n$(id)`id`',
  ].entries()) {
    const answer = await post(
      `\uFEFF${JSON.stringify({ name: `odd ${index}`, description: text, id: 'x', organization: 1 })}`,
    )
    assert.equal(answer.status, 200, answer.text)
    assert.equal(Object(answer.body).description, text)
  }
  assertError(await post({ name: 'ODD 0' }), 409)
})

test('E1 ids in another spelling are answered like unknown ones', async () => {
  const known = a.objects.projectId
  const unknown = '0190ffff-ffff-7fff-bfff-ffffffffffff'
  const random = await call(token, 'GET', `/project/${unknown}`)
  // The message names a valid id, so that is the only difference.
  const expected = random.text.replaceAll(` ${unknown}`, '')
  for (const id of [
    '1',
    'abc',
    `{${known}}`,
    known.replaceAll('-', ''),
    `urn:uuid:${known}`,
    `${known}%0a`,
    'x'.repeat(36),
  ]) {
    const answer = await call(token, 'GET', `/project/${id}`)
    assertError(answer, 404)
    assert.equal(answer.text, expected, id)
  }
  assert.equal((await call(token, 'GET', `/project/${known.toUpperCase()}`)).status, 200)
})

test('E16 E17 E18 numbers and ports outside their range name the field', async () => {
  const path = `/application/${a.objects.applicationId}`
  const port = { internal_port: 80, publicly_accessible: true, protocol: 'HTTP' }
  const bodies: [unknown, RegExp][] = [
    [{ cpu: -1 }, /^cpu must be ≥ 10/],
    [{ cpu: 1.5 }, /^cpu must be a whole number/],
    [{ cpu: '500' }, /^cpu must be a whole number/],
    ['{"cpu":9007199254740993}', /^cpu must be ≤/],
    ['{"cpu":1e400}', /^cpu/],
    [{ memory: 0 }, /^memory must be ≥ 1/],
    [{ gpu: -1 }, /^gpu must be ≥ 0/],
    [{ cpu: 900_000 }, /^cpu must be ≤ \d+, the capacity of the cluster/],
    [{ min_running_instances: 3, max_running_instances: 2 }, /^min_running_instances must be ≤ max/],
    [{ ports: [{ ...port, internal_port: 0 }] }, /^ports\[0\]\.internal_port must be ≥ 1/],
    [{ ports: [port, { ...port, internal_port: 65536 }] }, /^ports\[1\]\.internal_port must be ≤ 65535/],
    [{ ports: [port, port] }, /^ports\[1\]\.(name|internal_port) is used twice/],
    [
      {
        ports: [
          { ...port, is_default: true },
          { ...port, internal_port: 81, is_default: true },
        ],
      },
      /^ports must have at most one/,
    ],
    [{ ports: [{ ...port, protocol: 'SCTP' }] }, /^ports\[0\]\.protocol must be one of/],
    [{ ports: Array.from({ length: 101 }, () => port) }, /^ports must have at most 100/],
    [{ build_mode: 'BUILDPACKS' }, /^build_mode must be one of DOCKER/],
  ]
  for (const [body, message] of bodies) {
    const answer = await call(token, 'PUT', path, body)
    assertError(answer, 400)
    assert.match(answer.body.message, message)
  }
})

test('E21 E22 E23 query values are parsed strictly and clamped', async () => {
  const log = `/application/${a.objects.applicationId}/log`
  for (const query of [
    'tail=-1',
    'tail=0',
    'tail=abc',
    'tail=1;drop',
    'tail=',
    'tail=1.5',
    'tail=%EF%BC%91',
    'tail=1&tail=2',
  ]) {
    assertError(await call(token, 'GET', `${log}?${query}`), 400)
  }
  assert.equal((await call(token, 'GET', `${log}?tail=1000000000`)).status, 200)
  const history = `/application/${a.objects.applicationId}/deploymentHistoryV2`
  assertError(await call(token, 'GET', `${history}?pageSize=0`), 400)
  assert.equal(Object((await call(token, 'GET', `${history}?pageSize=1000000000`)).body).page_size, 20)
})

test('C11 C12 E24 methods and addresses are not reinterpreted', async () => {
  const before = await platform.fingerprint()
  const overridden = await call(token, 'GET', projects, undefined, {
    'x-http-method-override': 'POST',
    'x-original-url': '/x',
  })
  assert.equal(overridden.status, 200)
  assertError(await call(token, 'PATCH', projects, { name: 'x' }), 405)
  assertError(await call(token, 'GET', `/${'x'.repeat(9000)}`), 414)
  assertError(await call(token, 'GET', `${projects}/`), 404)
  assertError(await call(token, 'GET', `/Organization/${a.organizationId}`), 404)
  assert.deepEqual(await platform.fingerprint(), before)
})

test('E27 other host names are not served', async () => {
  for (const host of ['evil.example', 'localhost.evil.example']) {
    assertError(await call(token, 'GET', projects, undefined, { host }), 421)
  }
})

test('A5 E26 two credentials and two lengths of one body are refused', async () => {
  const port = Number(new URL(await platform.listen()).port)
  const line = `GET ${projects} HTTP/1.1\r\nHost: localhost\r\n`
  const good = `Authorization: Bearer ${token}\r\n`
  assert.match(
    await raw(port, `${line}${good}Authorization: Bearer x\r\nConnection: close\r\n\r\n`),
    /^HTTP\/1\.1 400 /,
  )
  assert.match(
    await raw(port, `${line}Authorization: Bearer x\r\n${good}Connection: close\r\n\r\n`),
    /^HTTP\/1\.1 400 /,
  )
  const both =
    `POST ${projects} HTTP/1.1\r\nHost: localhost\r\n${good}Content-Type: application/json\r\nContent-Length: ` +
    `4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\n\r\n`
  assert.match(await raw(port, both), /^HTTP\/1\.1 400 /)
  assert.match(await raw(port, `${line}${good}X: ${'y'.repeat(40_000)}\r\n\r\n`), /^HTTP\/1\.1 431 /)
})

/** Returns everything received until the other side closes. */
function raw(port: number, text: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let answer = ''
  const socket = connect(port, '127.0.0.1', () => socket.write(text))
  socket.on('data', (chunk) => {
    answer += chunk
  })
  socket.on('close', () => resolve(answer))
  socket.on('error', (error) => (answer === '' ? reject(error) : resolve(answer)))
  socket.setTimeout(30_000, () => socket.destroy())
  return promise
}

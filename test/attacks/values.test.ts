import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { cpuMs } from '../../server/lib/testing-cpu.ts'
import { canaryOf } from '../support/fixture.ts'
import { createPlatform } from '../support/platform.ts'

/** Groups E and H: values that must be stored unchanged or refused. */
const platform = await createPlatform({ after })
const { a, call } = platform
const token = a.tokens.ADMIN
const application = `/application/${a.objects.applicationId}`
const variables = `${application}/environmentVariable`
const secrets = `${application}/secret`
let made = 0
const addVariable = (value: unknown, path = variables, more: object = {}) =>
  call(token, 'POST', path, { key: `KEY_${made++}`, value, ...more })

test('H2 a variable requires a value', async () => {
  for (const body of [{ key: 'H2' }, { key: 'H2', value: null }]) {
    for (const path of [variables, secrets]) assert.equal((await call(token, 'POST', path, body)).status, 400)
  }
})

const exact = {
  'line breaks': 'a\nb\r\nc\n',
  quotes: `"'\`\\`,
  'shell substitutions': '$(id) `id` $HOME && ; | > <',
  'format directives': '%s%n%x%d',
  'an emoji': '💥\u{1F468}\u200D\u{1F469}',
  'blanks around': '  \t x \u00a0 ',
  nothing: '',
  SQL: `'; drop table variable; --`,
  'the largest allowed': 'x'.repeat(128_000),
}
for (const [what, value] of Object.entries(exact)) {
  test(`H4 a value with ${what} is returned byte by byte`, async () => {
    const answer = await addVariable(value)
    assert.equal(answer.status, 201)
    assert.equal(Object(answer.body).value, value)
    const list = Object((await call(token, 'GET', variables)).body).results
    assert.ok(
      list.some((one: { id: string; value: string }) => one.id === Object(answer.body).id && one.value === value),
    )
  })
}

test('H4 a value that no process can receive is refused', async () => {
  for (const value of ['x'.repeat(128_001), 'é'.repeat(64_001), 'a\0b']) {
    assert.equal((await addVariable(value)).status, 400)
    assert.equal((await addVariable(value, secrets)).status, 400)
  }
})

test('H9 a key exists once in a scope, and upper and lower case differ', async () => {
  assert.equal((await call(token, 'POST', variables, { key: 'twice', value: '1' })).status, 201)
  assert.equal((await call(token, 'POST', variables, { key: 'TWICE', value: '2' })).status, 201)
  for (const path of [variables, secrets]) {
    assert.equal((await call(token, 'POST', path, { key: 'twice', value: '3' })).status, 409)
  }
})

test('H10 one of fifty concurrent requests for the same key succeeds', async () => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      call(token, 'POST', index % 2 === 0 ? variables : secrets, { key: 'RACE', value: `${index}` }),
    ),
  )
  const counts = Map.groupBy(answers, ({ status }) => status)
  assert.deepEqual([counts.get(201)?.length, counts.get(409)?.length], [1, 49])
})

test('H11 no answer contains the value of a secret', async () => {
  const canary = canaryOf(a)
  const made = await addVariable(canary, secrets)
  const { id } = Object(made.body)
  const answers = [
    made,
    await call(token, 'GET', secrets),
    await call(token, 'GET', variables),
    await call(token, 'PUT', `${secrets}/${id}`, { key: 'STILL_HIDDEN', value: `${canary} again` }),
    await call(token, 'PUT', `${secrets}/${id}`, { key: 'STILL_HIDDEN' }),
    await call(token, 'GET', `/organization/${a.organizationId}/gitToken`),
    await call(token, 'GET', `/organization/${a.organizationId}/webhook`),
    await call(token, 'POST', secrets, { key: 'QOVERY_X', value: canary }),
    await call(token, 'POST', secrets, { key: canary, value: canary }),
  ]
  for (const { text, body } of answers.slice(0, 8)) {
    assert.ok(!text.includes(canary), text)
    assert.ok(!('value' in Object(body)))
  }
  assert.ok(platform.logged.every((line) => !line.includes(canary)))
})

test('H11 no answer for a secret file contains its value, only its path', async () => {
  const canary = canaryOf(a)
  const mount_path = '/etc/secrets/file'
  const made = await call(token, 'POST', secrets, { key: 'HIDDEN_FILE', value: canary, mount_path })
  const { id } = Object(made.body)
  const alias = await call(token, 'POST', `${secrets}/${id}/alias`, { key: 'HIDDEN_FILE_AGAIN' })
  const edited = await call(token, 'PUT', `${secrets}/${id}`, { key: 'HIDDEN_FILE' })
  const list = await call(token, 'GET', secrets)
  const plain = await call(token, 'POST', secrets, { key: 'HIDDEN_TEXT', value: canary })
  for (const { body, text } of [made, alias, edited]) {
    assert.equal(Object(body).mount_path, mount_path, text)
    assert.ok(!('value' in Object(body)))
  }
  assert.equal(Object(plain.body).mount_path, null)
  const found = Object(list.body).results.filter((one: { key: string }) => one.key.startsWith('HIDDEN_FILE'))
  assert.deepEqual(
    found.map((one: { mount_path: unknown }) => one.mount_path),
    [mount_path, mount_path],
  )
  for (const { text } of [made, alias, edited, list, plain]) assert.ok(!text.includes(canary))
})

test('H15 E10 keys that are members of every object are plain data', async () => {
  assert.equal((await call(token, 'POST', variables, { key: '__proto__', value: 'x' })).status, 400)
  for (const key of ['constructor', 'toString', 'hasOwnProperty', 'valueOf', 'length']) {
    const answer = await call(token, 'POST', variables, { key, value: `of ${key}` })
    assert.equal(answer.status, 201, answer.text)
    assert.deepEqual([Object(answer.body).key, Object(answer.body).value], [key, `of ${key}`])
  }
  assert.equal(typeof {}.toString, 'function')
})

test('E34 H18 a description has at most 255 characters of any size; null clears it, absence keeps it', async () => {
  const good = '💥'.repeat(255)
  const made = await addVariable('x', variables, { description: good })
  assert.equal(Object(made.body).description, good)
  assert.equal((await addVariable('x', variables, { description: `${good}a` })).status, 400)
  const path = `${variables}/${Object(made.body).id}`
  const { key } = Object(made.body)
  assert.equal(Object((await call(token, 'PUT', path, { key })).body).description, good)
  assert.equal(Object((await call(token, 'PUT', path, { key, description: null })).body).description, '')
})

test('E35 only valid dates and times are accepted', async () => {
  const path = `/organization/${a.organizationId}/apiToken`
  const expire = (expires_at: string) => call(token, 'POST', path, { name: `e35 ${made++}`, expires_at })
  for (const text of [
    '2090-02-30T00:00:00Z',
    '2090-01-01T24:00:00Z',
    '2090-01-01T23:59:60Z',
    '0000-01-01T00:00:00Z',
    '10000-01-01T00:00:00Z',
    '2090-01-01T00:00:00',
    '2090-01-01',
    '2090-13-01T00:00:00Z',
    '2090-01-01T00:00:00+15:00',
    '1',
    'tomorrow',
  ]) {
    assert.equal((await expire(text)).status, 400, text)
  }
  assert.equal(Object((await expire('2090-01-01T00:00:00+14:00')).body).expires_at, '2089-12-31T10:00:00.000Z')
  assert.equal((await expire('2020-01-01T00:00:00Z')).status, 400)
})

test('E36 enumerations must match exactly', async () => {
  for (const mode of ['production', 'PRODUCTION ', ' PRODUCTION', 'PROD', '', 'PRODUCTION\n']) {
    assert.equal((await call(token, 'PUT', `/environment/${a.objects.environmentId}`, { mode })).status, 400, mode)
  }
})

test('E19 unknown fields are dropped, also inside lists', async () => {
  const port = { internal_port: 8081, publicly_accessible: false, protocol: 'HTTP', surprise: 1 }
  const answer = await call(token, 'PUT', application, { ports: [port], surprise: { deep: [1] } })
  assert.equal(answer.status, 200, answer.text)
  const rows = await platform.database`select settings::text from service where id = ${a.objects.applicationId}`
  assert.ok(!JSON.stringify(rows).includes('surprise'))
})

test('E20 long lists are refused before their members are checked', async () => {
  const lists: [string, string, object][] = [
    ['PUT', application, { arguments: Array(40_000).fill('a') }],
    [
      'POST',
      `/organization/${a.organizationId}/webhook`,
      { target_url: 'https://x.example', events: Array(9000).fill('X') },
    ],
    ['PUT', `/organization/${a.organizationId}`, { name: 'A', admin_emails: Array(9000).fill('a@b.c') }],
  ]
  for (const [method, path, body] of lists) {
    const started = cpuMs()
    const answer = await call(token, method, path, body)
    assert.equal(answer.status, 400)
    assert.match(answer.text, /must have at most/)
    assert.ok(cpuMs() - started < 500)
  }
})

const hostile = [
  'a'.repeat(50_000),
  `${'a'.repeat(50_000)}!`,
  '/'.repeat(50_000),
  `${'a@'.repeat(25_000)}`,
  `${'-'.repeat(50_000)}x`,
]
test('E30 no field takes long over a hostile string', async () => {
  const requests: [string, string, (text: string) => object][] = [
    ['POST', variables, (key) => ({ key, value: 'x' })],
    ['POST', variables, (mount_path) => ({ key: 'E30', value: 'x', mount_path })],
    ['PUT', application, (url) => ({ git_repository: { url } })],
    ['PUT', application, (branch) => ({ git_repository: { url: 'https://github.com/o/r', branch } })],
    ['PUT', application, (dockerfile_path) => ({ dockerfile_path })],
    ['PUT', application, (icon_uri) => ({ icon_uri })],
    ['PUT', `/organization/${a.organizationId}`, (email) => ({ name: 'A', admin_emails: [email] })],
    [
      'POST',
      `/organization/${a.organizationId}/webhook`,
      (target_url) => ({ target_url, events: ['DEPLOYMENT_STARTED'] }),
    ],
  ]
  for (const text of hostile) {
    for (const [method, path, body] of requests) {
      const started = cpuMs()
      assert.equal((await call(token, method, path, body(text))).status, 400)
      assert.ok(cpuMs() - started < 500, `${path} ${text.slice(0, 10)}`)
    }
  }
})

test('E31 SQL in a string has no effect', async () => {
  const payloads = [
    "'",
    "''",
    '";',
    "' or 1=1 --",
    "'; drop table project cascade; --",
    '$1',
    '\\',
    "E'\\x27'",
    '/*',
    ') union select * from api_token --',
    'x%',
    '_',
  ]
  const counts = () => platform.database`select count(*) from api_token`
  const before = await counts()
  for (const [index, payload] of payloads.entries()) {
    const answer = await call(token, 'POST', `/organization/${a.organizationId}/project`, {
      name: `${index} ${payload}`,
      description: payload,
    })
    assert.equal(answer.status, 200, answer.text)
    assert.equal(Object(answer.body).description, payload)
    for (const name of ['name', 'creatorName']) {
      const listed = await call(
        token,
        'GET',
        `/organization/${a.organizationId}/apiToken?${name}=${encodeURIComponent(payload)}`,
      )
      assert.deepEqual(Object(listed.body).results, [])
    }
  }
  assert.deepEqual([...(await counts())], [...before])
})

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { makeApplication, makeEnvironment } from '../support/application.ts'
import { attemptServer } from '../support/attempt-server.ts'
import { haproxy, missingHaproxy } from '../support/haproxy.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { web } from '../support/trees.ts'

// If a server cannot start, one message gives the reason and names the setting.

const noHaproxy = (await missingHaproxy()) ?? false
let server: ServerProcess

before(async () => {
  server = await startServer()
})
after(() => server?.close())

test('a second server on the same data directory is rejected', async () => {
  const { code, output } = await attemptServer({ QUAYSIDE_DATA: server.dataDirectory })
  assert.equal(code, 1)
  assert.match(output, /in use by another server.*QUAYSIDE_DATA/)
  assert.equal((await server.api('GET', '/organization')).status, 200)
})

for (const setting of ['QUAYSIDE_PORT', 'QUAYSIDE_ROUTER_PORT'] as const) {
  test(`a port in use is reported with ${setting}, and nothing is left running`, async () => {
    const port = String(server.routerPort)
    const { code, output, left } = await attemptServer({ [setting]: port })
    assert.equal(code, 1)
    assert.match(output, new RegExp(`Port ${port}.*in use.*${setting} to another port`))
    assert.deepEqual(left, [])
  })
}

test('a start whose HAProxy was removed says so before it is ready, and serves', { skip: noHaproxy }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'quayside-program-'))
  t.after(() => rm(folder, { recursive: true }))
  const program = join(folder, 'haproxy')
  await writeFile(program, `#!/bin/sh\nexec ${haproxy} "$@"\n`, { mode: 0o700 })
  const env = { QUAYSIDE_HAPROXY: program }
  const says = (): string[] => server.output.filter((line) => line.startsWith('QUAYSIDE_HAPROXY is '))
  await server.restart({ env })
  assert.deepEqual(says(), [])
  await rm(program)
  await server.restart({ env })
  const [line = '', ...others] = says()
  assert.match(line, /which does not run: there is no such program\. Install it \(apt-get install haproxy\)/)
  assert.ok(others.length === 0 && server.output.lastIndexOf('Ready.') > server.output.indexOf(line))
  assert.equal((await fetch(`http://127.0.0.1:${server.routerPort}/`)).status, 404)
  await server.restart()
})

test('a damaged key file is reported with its setting', async (t) => {
  const keyFile = join(server.dataDirectory, 'master.key')
  const good = await readFile(keyFile)
  t.after(() => writeFile(keyFile, good))
  await server.stop()
  await writeFile(keyFile, 'quayside master key, version 1\nhalf a ke')
  const { code, output } = await attemptServer({ QUAYSIDE_DATA: server.dataDirectory })
  assert.equal(code, 1)
  assert.match(output, /master\.key does not hold a master key.*QUAYSIDE_MASTER_KEY_FILE/)
  assert.deepEqual(await readFile(keyFile, 'utf8'), 'quayside master key, version 1\nhalf a ke')
})

test('a server without its key file serves reads, rejects secrets and makes no new key', async () => {
  const keyFile = join(server.dataDirectory, 'master.key')
  await server.restart()
  const environmentId = await makeEnvironment(server, 'sealed')
  const application = await makeApplication(server, { environmentId, name: 'keeper' })
  const secrets = `/application/${application.id}/secret`
  await server.must('POST', secrets, { key: 'API_KEY', value: 'open sesame' })
  await application.run(web('one'))

  await rename(keyFile, `${keyFile}.away`)
  await server.restart()
  assert.equal((await server.api('GET', secrets)).status, 200)
  const { status, body } = await server.api<{ message: string }>('POST', secrets, { key: 'OTHER', value: 'text' })
  assert.equal(status, 503)
  assert.match(body.message, /key/)
  await assert.rejects(readFile(keyFile), { code: 'ENOENT' })
  await application.deploy()
  const { state, reason } = await application.settles()
  assert.deepEqual([state, (await application.answer()).body], ['ERROR', 'one'])
  assert.match(reason ?? '', /key/)

  await rename(`${keyFile}.away`, keyFile)
  await server.restart()
  assert.equal((await server.api('POST', secrets, { key: 'OTHER', value: 'text' })).status, 201)
  await application.git.remove()
})

// This test comes last, because its token differs from that of the other tests.
test('a first start that ended before it wrote the token makes another one', async () => {
  await server.sql`update setting set value = value - 'token' - 'done' where key = 'first_start'`
  const file = join(server.dataDirectory, 'admin-token')
  await rm(file)
  await server.restart()
  const token = (await readFile(file, 'utf8')).trim()
  assert.notEqual(token, server.token)
  const answer = await fetch(`${server.apiUrl}/organization`, { headers: { authorization: `Token ${token}` } })
  assert.equal(answer.status, 200)
})

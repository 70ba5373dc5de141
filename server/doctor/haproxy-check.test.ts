import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { haproxy, missingHaproxy } from '../../test/support/haproxy.ts'
import { gatherHaproxy } from './gather-haproxy.ts'
import { checkHaproxy } from './haproxy-check.ts'

const dockerSocket = '/var/run/docker.sock'
const skip = (await missingHaproxy()) ?? false

const judge = async (program: string) => checkHaproxy(await gatherHaproxy({ haproxy: program, dockerSocket }))

async function program(t: TestContext, text: string, mode = 0o700): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quayside-haproxy-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'haproxy')
  await writeFile(path, text, { mode })
  return path
}

test('the HAProxy of this machine is found by its name, and is new enough', { skip }, async () => {
  const { status, message } = await judge(haproxy)
  assert.equal(status, 'ok', message)
  assert.match(message, /^HAProxy is [23]\.\d+\.\d+\.$/)
})

test('HAProxy is looked up in the directories of the router, whatever the PATH of this process is', async (t) => {
  const before = process.env['PATH']
  t.after(() => {
    process.env['PATH'] = before
  })
  const path = await program(t, '#!/bin/sh\necho HAProxy version 2.8.1\n')
  process.env['PATH'] = `${path.slice(0, path.lastIndexOf('/'))}:${before}`
  assert.match((await judge('quayside-haproxy')).message, /there is no such program/)
  assert.equal((await judge(path)).message, 'HAProxy is 2.8.1.')
})

for (const [what, text, mode, expected] of [
  ['that nobody may run', '', 0o600, /does not run: this user may not run it/],
  ['that fails', '#!/bin/sh\nexit 3\n', 0o700, /does not run: it ended with exit code 3/],
  [
    'that is too old',
    '#!/bin/sh\necho HA-Proxy version 1.8.8-1 2018/04/19\n',
    0o700,
    /version 1\.8\.8\. .* 2\.6 or later/,
  ],
  ['of another kind', '#!/bin/sh\nprintf "nginx 9.9\\033[31m"\n', 0o700, /does not say .*: "nginx 9\.9\\u001b\[31m"/],
] as const) {
  test(`a program ${what} is reported with its setting and with what to do`, async (t) => {
    const path = await program(t, text, mode)
    const { status, message, remedy = '' } = await judge(path)
    assert.equal(status, 'fail')
    assert.match(message, expected)
    assert.ok(message.startsWith(`QUAYSIDE_HAPROXY is ${path}`))
    assert.match(remedy, /apt-get install haproxy.*unset it/)
  })
}

test('a path that leads nowhere is reported', async (t) => {
  const path = await program(t, '')
  assert.match((await judge(`${path}/haproxy`)).message, /its path leads through a file/)
  assert.match((await judge('/nonexistent/haproxy')).message, /there is no such program/)
})

test('without the setting, or without a router on this machine, nothing is started', async (t) => {
  const path = await program(t, '#!/bin/sh\nexit 3\n')
  assert.equal(await gatherHaproxy({ haproxy: undefined, dockerSocket }), undefined)
  assert.equal(await gatherHaproxy({ haproxy: path, dockerSocket: undefined }), undefined)
  assert.equal(checkHaproxy(undefined).status, 'ok')
})

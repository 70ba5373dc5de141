import assert from 'node:assert/strict'
import { access, chmod, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { findPostmaster } from '../../server/database/postmaster.ts'
import { run } from '../../server/lib/run.ts'
import { findRouter } from '../../server/routers/own/find-router.ts'
import { ask } from '../../server/routers/own/testing.ts'
import { usualSocket } from '../support/engine-view.ts'
import { findGround, launchServer, settingsOf } from '../support/launch-server.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { startTidying } from '../support/tidying.ts'
import { until } from '../support/until.ts'

// `npm stop` and `npm run uninstall` with two real installations on one machine.

const root = fileURLToPath(new URL('../..', import.meta.url))

interface CommandOptions {
  readonly args?: readonly string[]
  readonly stdin?: string
  readonly settings?: Readonly<Record<string, string>>
}

/** Runs a command of the checkout as an operator does. */
async function command(
  name: string,
  dataDirectory: string,
  { args = [], stdin = '', settings = {} }: CommandOptions = {},
) {
  const env = { QUAYSIDE_DATA: dataDirectory, QUAYSIDE_DOCKER_HOST: `unix://${usualSocket}`, ...settings }
  const program = [join(root, 'bootstrap', `${name}.mjs`), ...args]
  const { exitCode, stdout, stderr } = await run(process.execPath, program, { env, stdin, timeoutMs: 200_000 })
  return { exitCode, said: `${stdout}${stderr}` }
}

/** Returns which of its processes run. */
async function processesOf(dataDirectory: string): Promise<string[]> {
  const router = await findRouter({ controlSocket: join(dataDirectory, 'router', 'control.sock') })
  const database = await findPostmaster(join(dataDirectory, 'postgresql', 'cluster'))
  return [...(router ? ['router'] : []), ...(database ? ['PostgreSQL'] : [])]
}

const runningOf = async ({ engine, instance }: ServerProcess): Promise<number> =>
  (await engine.containersWith(`quayside.instance=${instance}`)).filter(({ State }) => State === 'running').length

/** Returns whether the example of the first start answers through the router. */
async function exampleAnswers(server: ServerProcess): Promise<boolean> {
  const [row] = await server.sql<{ host: string }[]>`select host from route limit 1`
  return (await ask(server.routerPort, row?.host ?? '')).status === 200
}

describe('the life of an installation', () => {
  let first: ServerProcess
  let second: ServerProcess
  before(async () => {
    first = await startServer()
    second = await startServer()
  })
  after(async () => {
    await first?.close()
    await second?.close()
  })
  const secondIsWell = async (): Promise<void> => {
    assert.equal((await second.api('GET', '/organization')).status, 200)
    assert.equal(await runningOf(second), 1)
    assert.deepEqual(await processesOf(second.dataDirectory), ['router', 'PostgreSQL'])
  }

  test('npm stop ends server, router and PostgreSQL of one installation, and nothing else', async () => {
    const stopped = await command('stop', first.dataDirectory)
    assert.deepEqual([stopped.exitCode, (await first.exited()).code], [0, 0], stopped.said)
    assert.match(stopped.said, /Stopped: server, router\. Services keep running/)
    assert.deepEqual(await processesOf(first.dataDirectory), [])
    assert.equal(await runningOf(first), 1)
    const again = await command('stop', first.dataDirectory)
    assert.equal(again.exitCode, 0)
    assert.match(again.said, /Nothing to stop: no server, router or PostgreSQL of .* is running\./)
    await secondIsWell()
  })

  test('two stops at the same time both succeed', async () => {
    await first.restart()
    const both = await Promise.all([command('stop', first.dataDirectory), command('stop', first.dataDirectory)])
    assert.deepEqual(
      both.map(({ exitCode }) => exitCode),
      [0, 0],
      both.map(({ said }) => said).join('\n'),
    )
    assert.deepEqual(await processesOf(first.dataDirectory), [])
  })

  test('npm stop ends PostgreSQL and the router of a server that was killed', async () => {
    await first.restart()
    await first.kill9()
    assert.deepEqual(await processesOf(first.dataDirectory), ['router', 'PostgreSQL'])
    const { exitCode, said } = await command('stop', first.dataDirectory)
    assert.equal(exitCode, 0, said)
    assert.match(said, /Stopped: router, PostgreSQL\./)
    assert.deepEqual(await processesOf(first.dataDirectory), [])
    await secondIsWell()
  })

  test('npm stop -- --applications stops the services too, and a start brings them back', async () => {
    await first.restart()
    const { exitCode, said } = await command('stop', first.dataDirectory, { args: ['--applications'] })
    assert.equal(exitCode, 0, said)
    assert.match(said, /1 container was stopped/)
    assert.equal(await runningOf(first), 0)
    await secondIsWell()
    await first.restart()
    await until('the example answers', () => exampleAnswers(first).catch(() => false), { limitMs: 60_000 })
  })

  test('npm run doctor and the start of a server report the same problems', async () => {
    const file = join(first.dataDirectory, 'admin-token')
    await chmod(file, 0o644)
    const settings = { QUAYSIDE_PORT: new URL(first.apiUrl).port, QUAYSIDE_ROUTER_PORT: String(first.routerPort) }
    const examined = await command('doctor', first.dataDirectory, { args: ['--json'], settings })
    assert.equal(examined.exitCode, 1, examined.said)
    const findings: { check: string; status: string; message: string }[] = JSON.parse(examined.said)
    const ports = findings.filter(({ check }) => check === 'port').map(({ message }) => message.replace(/^.* is/, 'is'))
    assert.deepEqual(ports, ['is used by this installation.', 'is used by this installation.'])
    const failed = findings.filter(({ status }) => status === 'fail')
    assert.deepEqual(
      failed.map(({ message }) => message),
      [`${file} has mode 644: others may read it.`],
    )
    await first.restart()
    await until('the server logs it', () => first.output.some((line) => line.includes(`${file} has mode 644`)))
    await chmod(file, 0o600)
    const plain = await command('doctor', first.dataDirectory, { settings })
    assert.equal(plain.exitCode, 0, plain.said)
    assert.match(plain.said, /^ok +settings +All settings are valid\.$/m)
    const mistaken = await command('doctor', first.dataDirectory, { settings: { QUAYSIDE_PORT: 'none' } })
    assert.equal(mistaken.exitCode, 1)
    assert.match(mistaken.said, /^fail +settings +QUAYSIDE_PORT must be/m)
  })

  test('npm run uninstall removes nothing until the name is typed', async () => {
    const instance = (await readFile(join(first.dataDirectory, 'instance'), 'utf8')).trim()
    assert.equal(instance, first.instance)
    const { exitCode, said } = await command('uninstall', first.dataDirectory, { stdin: 'yes\n' })
    assert.equal(exitCode, 1)
    assert.match(
      said,
      new RegExp(
        `containers: 2\\n {2}quay-.*quay-builder-.*networks: 1\\n {2}quay-env-.*Type ${instance} .*Nothing was removed`,
        's',
      ),
    )
    assert.equal((await first.api('GET', '/organization')).status, 200)
  })

  test('npm run uninstall removes all of one installation while its server runs, and nothing of the other', async () => {
    const [service] = await first.sql<{ id: string }[]>`select id from service`
    const { exitCode, said } = await command('uninstall', first.dataDirectory, { stdin: `${first.instance}\n` })
    assert.equal(exitCode, 0, said)
    const label = `quayside.instance=${first.instance}`
    const left = [
      await first.engine.containersWith(label),
      await first.engine.networksWith(label),
      await first.engine.volumesWith(label),
      await first.engine.imagesOf(service?.id ?? ''),
    ]
    assert.deepEqual(left, [[], [], [], []])
    await assert.rejects(access(first.dataDirectory), { code: 'ENOENT' })
    const { stdout } = await run('iptables', ['-S'], { timeoutMs: 10_000 })
    assert.ok(!stdout.toString().includes(`quayside-${first.instance}`))
    await secondIsWell()
  })

  test('npm run uninstall -- --keep-data removes an installation of a killed server and keeps its data', async () => {
    await second.kill9()
    const { exitCode, said } = await command('uninstall', second.dataDirectory, { args: ['--yes', '--keep-data'] })
    assert.equal(exitCode, 0, said)
    assert.equal((await second.engine.containersWith(`quayside.instance=${second.instance}`)).length, 0)
    assert.deepEqual(await processesOf(second.dataDirectory), [])
    assert.equal((await readFile(join(second.dataDirectory, 'admin-token'), 'utf8')).trim(), second.token)
    // The data is intact: a start restores what should run.
    await second.restart()
    assert.equal((await second.api('GET', '/organization')).status, 200)
  })
})

for (const line of ['Starting PostgreSQL', 'Creating organization', 'Starting the router']) {
  test(`npm stop during a first start, at "${line}", leaves nothing running`, async (t) => {
    const ground = await findGround()
    const tidying = startTidying(ground.dataDirectory)
    t.after(() => tidying.finish())
    const output: string[] = []
    const launched = launchServer(settingsOf(ground, usualSocket), output)
    tidying.note('server', launched.child.pid)
    await launched.printed(line)
    const { exitCode, said } = await command('stop', ground.dataDirectory)
    assert.equal(exitCode, 0, said)
    assert.deepEqual(await launched.exit, { code: 0, signal: null }, output.join('\n'))
    assert.deepEqual(await processesOf(ground.dataDirectory), [])
  })
}

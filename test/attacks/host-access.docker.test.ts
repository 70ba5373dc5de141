import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { after, before, describe, type TestContext, test } from 'node:test'
import { contextOf, recipeOf, recording } from '../../server/builders/builder.cases.ts'
import { baseImage, ensureBaseImage } from '../../server/builders/docker/base-image.ts'
import { createDockerBuilder } from '../../server/builders/docker/docker-builder.ts'
import { engineForTests } from '../../server/builders/docker/engine-for-tests.ts'
import { otherHost, otherHostName, whyNoOtherHost } from '../../server/builders/docker/test-other-host.ts'
import { createTestBuildKit, whyNoOwnBuildKit } from '../../server/builders/docker/test-own-buildkit.ts'
import { DockerEngine } from '../../server/engines/index.ts'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { newId } from '../../server/lib/id.ts'
import { run } from '../../server/lib/run.ts'
import { atEnd } from '../support/at-end.ts'
import { openDocker } from '../support/docker.ts'
import { until } from '../support/until.ts'

/** Containers and build steps try to reach programs that listen on all addresses of the machine. */
const { socketPath, skip } = await engineForTests()
const docker = openDocker(socketPath)
const instance = `test-host-${process.pid}`
const engine = new DockerEngine({ socketPath, instance, clock })
const buildKit = createTestBuildKit(socketPath)
const noOwn = await whyNoOwnBuildKit(socketPath, skip)
/** The BuildKit of the engine, and the platform's own. */
const builders = [
  createDockerBuilder({ socketPath }),
  ...(noOwn ? [] : [createDockerBuilder({ socketPath, buildKit })]),
]
const signal = AbortSignal.timeout(120_000)
const attempt = { signal, output: { line: () => {} } }
const noOtherHost = await whyNoOtherHost()

/** Starts a program of the machine on all its IPv4 and IPv6 addresses. Returns its port. */
async function listen(t: TestContext): Promise<number> {
  const server = createServer((socket) => socket.on('error', () => {}).end('secret')).listen(0, '::')
  atEnd(t, () => server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const bound = server.address()
  return typeof bound === 'object' && bound ? bound.port : assert.fail('no port')
}

/**
 * Returns a program that prints for each host and port whether it answers. `gateway` is the machine
 * on the program's network.
 */
const dialing = (targets: readonly (readonly [string, number])[]): string =>
  `const routes = require('fs').readFileSync('/proc/net/route', 'utf8').split('\\n').map((row) => row.split('\\t'));
  const hex = (routes.find(([, to, , flags]) => to === '00000000' && flags === '0003') ?? [])[2] ?? '';
  const gateway = (hex.match(/../g) ?? []).reverse().map((byte) => parseInt(byte, 16)).join('.');
  const dial = ([host, port]) => new Promise((resolve) => {
    const socket = require('net').connect({ host: host === 'gateway' ? gateway : host, port, timeout: 1500 });
    const end = (what) => { socket.destroy(); resolve(what) };
    socket.once('connect', () => end('open')).once('timeout', () => end('silent')).once('error', ({ code }) => end(code));
  });
  Promise.all(${JSON.stringify(targets)}.map(dial)).then((all) => console.log(JSON.stringify(all)))`.replace(
    /\n\s*/g,
    ' ',
  )

async function container(t: TestContext, network: string, program: string) {
  const one = await docker.createContainer({
    Image: baseImage,
    Cmd: ['node', '-e', program],
    Labels: { 'quayside.test': instance },
    HostConfig: { NetworkMode: network },
  })
  atEnd(t, () => one.remove())
  await one.start()
  return one
}

async function seenFrom(t: TestContext, network: string, program: string): Promise<unknown> {
  const one = await container(t, network, program)
  await one.wait()
  return JSON.parse(await one.output())
}

/** Returns what a step of each builder sees. */
async function seenBySteps(program: string): Promise<unknown[]> {
  const seen: unknown[] = []
  for (const builder of builders) {
    const recipe = recipeOf(newId(), `FROM ${baseImage}\nRUN ${JSON.stringify(['node', '-e', program])}\n`)
    const { attempt: building, lines } = recording()
    await builder.build(contextOf(recipe), recipe, building)
    await builder.prune(recipe.service, [], signal)
    seen.push(JSON.parse(lines.find((line) => line.startsWith('["')) ?? '[]'))
  }
  return seen
}

describe('programs of the machine', { skip }, () => {
  before(() => ensureBaseImage({ socketPath }, signal))
  after(() => buildKit.remove())

  test('neither a container of an environment nor a build step reaches one whose port is not open', async (t) => {
    const [closed, open] = [await listen(t), await listen(t)]
    atEnd(t, () => engine.removeGuards({ isShared: true }, signal))
    await engine.guardNetworks({ host: [{ first: open, last: open, protocol: 'tcp' }] }, signal)
    assert.equal(await engine.guardNetworks({ host: [{ first: open, last: open, protocol: 'tcp' }] }, signal), false)
    const environment = newId()
    await engine.prepareEnvironment(environment, attempt)
    atEnd(t, () => engine.eraseEnvironment(environment, attempt))
    const network = `quay-env-${environment}`
    const attack = dialing([
      ['gateway', closed],
      ['gateway', open],
    ])
    assert.deepEqual(await seenFrom(t, network, attack), ['ECONNREFUSED', 'open'])
    for (const seen of await seenBySteps(attack)) assert.deepEqual(seen, ['ECONNREFUSED', 'open'])
    // Programs of one environment reach each other, and the machine reaches them.
    const server = await container(
      t,
      network,
      'require("http").createServer((_, answer) => answer.end("ok")).listen(80)',
    )
    const address = await server.address(network)
    const ask = () => fetch(`http://${address}`).then((answer) => answer.text())
    assert.equal(await until('the program answers the machine', () => ask().catch(() => undefined)), 'ok')
    assert.deepEqual(await seenFrom(t, network, dialing([[address, 80]])), ['open'])
  })

  test('IPv6 gives no more access than IPv4', async (t) => {
    const [closed, open] = [await listen(t), await listen(t)]
    atEnd(t, () => engine.removeGuards({ isShared: true }, signal))
    await engine.guardNetworks({ host: [{ first: open, last: open, protocol: 'tcp' }] }, signal)
    const subnet = `fd51:${(process.pid % 0xffff).toString(16)}::`
    // Docker's default pools may be used up by the environments of other tests.
    const subnet4 = `198.19.${process.pid % 256}.0/24`
    const removeNetwork = await docker.createNetwork({
      Name: instance,
      EnableIPv6: true,
      IPAM: { Driver: 'default', Config: [{ Subnet: subnet4 }, { Subnet: `${subnet}/64`, Gateway: `${subnet}1` }] },
      Options: { 'com.docker.network.bridge.name': `qs-t${process.pid % 100_000}` },
      Labels: { 'quayside.test': instance },
    })
    atEnd(t, removeNetwork)
    const program = dialing([
      [`${subnet}1`, closed],
      [`${subnet}1`, open],
    ])
    // The kernel first checks that nobody else has a new address.
    const waiting = `setTimeout(() => { ${program} }, 2500)`
    assert.deepEqual(await seenFrom(t, instance, waiting), ['ECONNREFUSED', 'open'])
  })

  test('a published port of an environment answers other machines and this one', { skip: noOtherHost }, async (t) => {
    atEnd(t, () => engine.removeGuards({ isShared: true }, signal))
    await engine.guardNetworks({ host: [] }, signal)
    await otherHost(t, '198.18.254.1')
    const environment = newId()
    await engine.prepareEnvironment(environment, attempt)
    atEnd(t, () => engine.eraseEnvironment(environment, attempt))
    const port = 20_000 + (process.pid % 10_000)
    const program = 'require("http").createServer((_, answer) => answer.end("ok")).listen(80)'
    const database = await docker.createContainer({
      Image: baseImage,
      Cmd: ['node', '-e', program],
      Labels: { 'quayside.test': instance },
      ExposedPorts: { '80/tcp': {} },
      HostConfig: {
        NetworkMode: `quay-env-${environment}`,
        PortBindings: { '80/tcp': [{ HostIp: '0.0.0.0', HostPort: String(port) }] },
      },
    })
    atEnd(t, () => database.remove())
    await database.start()
    const ask = () => fetch(`http://127.0.0.1:${port}`).then((answer) => answer.text())
    assert.equal(await until('the port answers this machine', () => ask().catch(() => undefined)), 'ok')
    const there = ['netns', 'exec', otherHostName, process.execPath, '-e', dialing([['198.18.255.1', port]])]
    const { stdout } = await run('ip', there, { timeoutMs: 10_000 })
    assert.deepEqual(JSON.parse(stdout.toString()), ['open'])
  })
})

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openDocker } from '../../../test/support/docker.ts'
import { createPlatform } from '../../../test/support/platform.ts'
import { DockerEngine } from '../../engines/index.ts'
import { systemClock as clock } from '../../lib/clock.ts'
import { newId } from '../../lib/id.ts'
import { contextOf, recipeOf, recording } from '../builder.cases.ts'
import { baseImage, ensureBaseImage } from './base-image.ts'
import { createDockerBuilder } from './docker-builder.ts'
import { engineForTests } from './engine-for-tests.ts'
import { otherHost, whyNoOtherHost } from './test-other-host.ts'
import { createTestBuildKit, whyNoOwnBuildKit } from './test-own-buildkit.ts'

/** What a build step can reach from inside: only what is public. */
const { socketPath, skip } = await engineForTests()
const docker = openDocker(socketPath)
const service = `test-network-${process.pid}`
const signal = AbortSignal.timeout(120_000)
const noOtherHost = await whyNoOtherHost()
let count = 0

/** The BuildKit of the engine, and the platform's own for each network. */
const own = {
  default: createTestBuildKit(socketPath),
  none: createTestBuildKit(socketPath, { network: 'none' }),
}
const noOwn = await whyNoOwnBuildKit(socketPath, skip)
const kinds = [
  { kind: 'the engine’s BuildKit', buildKitOf: () => undefined, skip: false as const },
  { kind: 'the platform’s own BuildKit', buildKitOf: (network: 'default' | 'none') => own[network], skip: noOwn },
]
type BuildKitOf = (typeof kinds)[number]['buildKitOf']

/** Builds a step that runs the program and returns its output as JSON. */
async function seenBy(buildKitOf: BuildKitOf, network: 'default' | 'none', program: string): Promise<unknown> {
  const builder = createDockerBuilder({ socketPath, network, buildKit: buildKitOf(network) })
  const step = `/* ${process.pid} ${count++} */ ${program.replace(/\n\s*/g, ' ')}`
  const text = `FROM ${baseImage}\nRUN ${JSON.stringify(['node', '-e', step])}\n`
  const recipe = recipeOf(service, text, { commit: `${count}`.padStart(40, '0') })
  const { attempt, lines } = recording()
  await builder.build(contextOf(recipe), recipe, attempt)
  await builder.prune(service, [], signal)
  return JSON.parse(lines.find((line) => line.startsWith('{')) ?? '{}')
}

/** The host's address on the bridge of builds, `gateway` below. */
const gatewayOfStep = `
  const routes = require('fs').readFileSync('/proc/net/route', 'utf8').split('\\n').map((row) => row.split('\\t'));
  const hex = routes.find(([, to, , flags]) => to === '00000000' && flags === '0003')[2];
  const gateway = hex.match(/../g).reverse().map((byte) => parseInt(byte, 16)).join('.');`

/** Reports for each `host:port` whether it accepts connections. */
const dialing = (targets: readonly string[]): string => `${gatewayOfStep}
  const dial = (target) => new Promise((resolve) => {
    const [host, port] = target.replace('gateway', gateway).split(':');
    const socket = require('net').connect({ host, port, timeout: 1500 });
    const end = (what) => { socket.destroy(); resolve([target, what]) };
    socket.once('connect', () => end('open')).once('timeout', () => end('silent')).once('error', ({ code }) => end(code));
  });
  Promise.all(${JSON.stringify(targets)}.map(dial)).then((all) => console.log(JSON.stringify(Object.fromEntries(all))))`

/** Requests each path of the API over the bridge, without a token and with an invalid one. */
const asking = (port: string, paths: readonly string[]): string => `${gatewayOfStep}
  const ask = (path) => (headers) => fetch('http://' + gateway + ':${port}' + path, { headers }).then(({ status }) => status);
  const both = [{}, { authorization: 'Token quayside_none' }];
  Promise.all(${JSON.stringify(paths)}.map(async (path) => [path, await Promise.all(both.map(ask(path)))]))
    .then((all) => console.log(JSON.stringify(Object.fromEntries(all))))`

describe('the network of build steps', { skip }, () => {
  before(() => ensureBaseImage({ socketPath }, signal))
  after(() => Promise.all([own.default.remove(), own.none.remove()]))
  for (const one of kinds) describe(`of ${one.kind}`, { skip: one.skip }, () => cases(one.buildKitOf))
})

function cases(buildKitOf: BuildKitOf): void {
  test('a step without a network has only its own loopback device', async () => {
    const seen = await seenBy(buildKitOf, 'none', 'console.log(JSON.stringify(require("os").networkInterfaces()))')
    assert.deepEqual(
      Object.keys(Object(seen)).filter((name) => name !== 'lo'),
      [],
    )
  })

  test('a step reaches no program of an environment and no database, and only public answers of the API', async (t) => {
    const platform = await createPlatform(t)
    const apiPort = new URL(await platform.app.listen({ host: '0.0.0.0', port: 0 })).port
    const engine = new DockerEngine({ socketPath, instance: service, clock })
    const open = { first: Number(apiPort), last: Number(apiPort), protocol: 'tcp' } as const
    await engine.guardNetworks({ host: [open] }, signal)
    t.after(() => engine.removeGuards({ isShared: true }, signal))
    const removeNetwork = await docker.createNetwork({ Name: service, Labels: { 'quayside.test': service } })
    const container = await docker.createContainer({
      Image: baseImage,
      Cmd: ['node', '-e', 'require("net").createServer((socket) => socket.end()).listen(8080)'],
      Labels: { 'quayside.test': service },
      HostConfig: { NetworkMode: service },
    })
    t.after(async () => {
      await container.remove()
      await removeNetwork()
    })
    await container.start()
    const address = await container.address(service)
    const ofHost = ['5432', '2375', '2376'].map((port) => `gateway:${port}`)
    const closed = [`${address}:8080`, ...ofHost, `127.0.0.1:${apiPort}`]
    const seen = Object(await seenBy(buildKitOf, 'default', dialing([...closed, `gateway:${apiPort}`])))
    // The last one shows that the check could see the others.
    assert.equal(seen[`gateway:${apiPort}`], 'open')
    for (const target of closed)
      assert.ok(['silent', 'ECONNREFUSED'].includes(seen[target]), `${target} ${seen[target]}`)

    const paths = [
      '/organization',
      `/organization/${platform.a.organizationId}/project`,
      '/metrics',
      '/git/hello.git/info/refs?service=git-upload-pack',
    ]
    const asked = await seenBy(buildKitOf, 'default', asking(apiPort, paths))
    const [organization, project, metrics, git] = paths.map((path) => Object(asked)[path])
    assert.deepEqual(
      [organization, project, metrics, git],
      [
        [401, 401],
        [401, 401],
        [401, 401],
        [401, 401],
      ],
    )
  })

  test('neither a step nor a program of an environment reaches the metadata service of a cloud, and both its names', {
    skip: noOtherHost,
  }, async (t) => {
    const address = '100.100.100.200'
    await otherHost(t, address)
    const engine = new DockerEngine({ socketPath, instance: service, clock })
    await engine.guardNetworks({ metadata: 'closed' }, signal)
    assert.equal(await engine.guardNetworks({ metadata: 'closed' }, signal), false)
    const targets = [`${address}:80`, `${address}:53`]
    const kept = { [`${address}:80`]: 'ECONNREFUSED', [`${address}:53`]: 'open' }
    assert.deepEqual(await seenBy(buildKitOf, 'default', dialing(targets)), kept)
    const environment = newId()
    const attempt = { signal, output: { line: () => {} } }
    await engine.prepareEnvironment(environment, attempt)
    const container = await docker.createContainer({
      Image: baseImage,
      Cmd: ['node', '-e', dialing(targets)],
      Labels: { 'quayside.test': service },
      HostConfig: { NetworkMode: `quay-env-${environment}` },
    })
    t.after(async () => {
      await container.remove()
      await engine.eraseEnvironment(environment, attempt)
    })
    await container.start()
    await container.wait()
    assert.deepEqual(JSON.parse(await container.output()), kept)
  })
}

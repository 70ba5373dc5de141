import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { isRunningWith, placesOf } from '../support/secret-search.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { get, startTraffic } from '../support/traffic.ts'
import { building, crashing, outOfMemory, silent, web, withoutDockerfile } from '../support/trees.ts'
import { now, until } from '../support/until.ts'
import { type Delivery, startReceiver } from '../support/webhook-receiver.ts'

// The walk of the README on a real server, from a git push until nothing is left. The tests build
// on each other.

const apiKey = `key-${randomBytes(12).toString('hex')}`
let server: ServerProcess
let receiver: Awaited<ReturnType<typeof startReceiver>>
let shop: TestApplication
/** An application that fails only after a whole minute. The last test waits for it. */
let deaf: TestApplication

before(async () => {
  server = await startServer()
  receiver = await startReceiver()
})
after(async () => {
  receiver?.close()
  await shop?.git.remove()
  await deaf?.git.remove()
  await server?.close()
})

const serviceLabel = (application: TestApplication): string => `quayside.service=${application.id}`
const oneContainer = async (application: TestApplication): Promise<string> => {
  const [container, ...others] = await server.engine.containersWith(serviceLabel(application))
  assert.equal(others.length, 0, 'more than one container')
  return container?.Id ?? assert.fail('no container')
}
const delivered = (event: string, count = 1): Promise<Delivery> =>
  until(`delivery of ${event}`, () => receiver.deliveries.filter((delivery) => delivery.event === event)[count - 1])

test('an application pushed over HTTP is built, started and answers at its address', async () => {
  const environmentId = await makeEnvironment(server, 'other')
  deaf = await makeApplication(server, { environmentId, name: 'deaf' })
  await deaf.ship(web('nobody hears me', { port: 9090 }))

  const path = `/organization/${server.organizationId}/webhook`
  const hook = await server.must<{ signing_secret: string }>('POST', path, {
    kind: 'STANDARD',
    target_url: receiver.url,
    events: ['DEPLOYMENT_STARTED', 'DEPLOYMENT_SUCCEEDED', 'DEPLOYMENT_FAILED', 'DEPLOYMENT_CANCELLED'],
    project_names_filter: ['walk'],
  })
  shop = await makeApplication(server, {
    environmentId: await makeEnvironment(server, 'walk'),
    name: 'shop',
    settings: { storage: [{ type: 'FAST_SSD', size: 1, mount_point: '/data' }] },
  })
  const variables = `/application/${shop.id}`
  await server.must('POST', `${variables}/environmentVariable`, { key: 'GREETING', value: 'Good morning' })
  await server.must('POST', `${variables}/secret`, { key: 'API_KEY', value: apiKey })
  await shop.ship(web('one'))
  await shop.reaches(['RUNNING'])
  assert.deepEqual(await shop.answer(), { status: 200, body: 'one' })

  const success = await delivered('DEPLOYMENT_SUCCEEDED')
  const headers = Object.fromEntries(Object.entries(success.headers).map(([name, value]) => [name, String(value)]))
  new Webhook(hook.signing_secret).verify(success.body, headers)
  assert.throws(() => new Webhook(hook.signing_secret).verify(`${success.body} `, headers))
  assert.equal(success.payload['application_id'], shop.id)
  assert.deepEqual(
    receiver.deliveries.map(({ event }) => event),
    ['DEPLOYMENT_STARTED', 'DEPLOYMENT_SUCCEEDED'],
  )
})

test('a variable and a secret reach the container, and the secret is nowhere else', async () => {
  assert.equal((await get(`${shop.url}/variable/GREETING`)).body, 'Good morning')
  assert.equal((await get(`${shop.url}/variable/API_KEY`)).body, apiKey)
  await shop.ship({
    ...web('prints its key'),
    'app.js': `console.log('my key is', process.env.API_KEY)\n${web('one')['app.js']}`,
  })
  await shop.settles()
  const lines = await until('the line is collected', async () => {
    const found = await shop.log()
    return found.some(({ message }) => message.startsWith('my key is')) && found
  })
  const answers = [lines, await shop.status(), await shop.history(), await shop.deploymentLog()]
  for (const path of ['', '/secret', '/environmentVariable', '/link']) {
    answers.push(await server.must('GET', `/application/${shop.id}${path}`))
  }
  assert.ok(!JSON.stringify(answers).includes(apiKey), 'an answer contains the secret')
  assert.ok(!JSON.stringify(receiver.deliveries).includes(apiKey), 'a delivery contains the secret')
  assert.deepEqual(await placesOf(apiKey, server, shop.id), [])
})

test('the last lines of an application can be read', async () => {
  const last = await until('its lines are stored', async () => {
    const lines = await shop.log(1)
    return lines.length === 1 && lines
  })
  assert.equal(last[0]?.message, 'up one')
  assert.match(last[0]?.pod_name ?? '', /^quay-/)
})

test('a change is deployed under load without losing a request', async () => {
  const traffic = startTraffic(shop.url, 100)
  await until('requests are answered', () => (traffic.tally().bodies.get('one') ?? 0) > 50)
  await shop.ship(web('two'))
  await shop.settles()
  await traffic.sends(51)
  const { lost, bodies } = await traffic.stop()
  assert.deepEqual(lost, [])
  assert.ok((bodies.get('two') ?? 0) > 50)
  await oneContainer(shop)
})

test('rolling back to a previous execution and forward again loses no request', async () => {
  const [two, one] = (await shop.history()).map(({ identifier }) => identifier.execution_id)
  const traffic = startTraffic(shop.url, 100)
  await until('requests are answered', () => (traffic.tally().bodies.get('two') ?? 0) > 50)
  for (const [execution_id, body] of [
    [one, 'one'],
    [two, 'two'],
  ] as const) {
    await server.must('POST', `/application/${shop.id}/rollback`, { execution_id })
    await shop.settles()
    assert.deepEqual(await shop.answer(), { status: 200, body })
  }
  const { lost, bodies } = await traffic.stop()
  assert.deepEqual(lost, [])
  assert.ok((bodies.get('one') ?? 0) > 0)
  await oneContainer(shop)
})

test('a version that crashes fails within seconds with its last lines, and the previous one still answers', async () => {
  await shop.git.push(crashing('the key is missing'))
  const began = now()
  await shop.deploy()
  const { reason } = await shop.reaches(['ERROR'])
  assert.ok(now() - began < 40_000, `took ${now() - began} ms`)
  const said = /exited with code 7[\s\S]*the key is missing/
  assert.match(reason ?? '', said)
  await shop.settles()
  assert.equal((await shop.answer()).body, 'two')
  await oneContainer(shop)
  const [entry] = await shop.history()
  assert.equal(entry?.status, 'DEPLOYMENT_ERROR')
  assert.match(entry?.reason ?? '', said)
  const errors = (await shop.deploymentLog()).flatMap(({ type, message }) =>
    type === 'error' ? message?.safe_message : [],
  )
  assert.match(errors.join('\n'), said)
  const failure = await delivered('DEPLOYMENT_FAILED')
  assert.match(String(failure.payload['logs']), said)
})

test('a version that cannot be built or run reports the reason, and the previous one still answers', async () => {
  const cases = [
    { tree: withoutDockerfile(), state: 'BUILD_ERROR', says: /There is no Dockerfile at "Dockerfile"/ },
    {
      tree: building(`console.error('syntax error in line 3'); process.exit(3)`),
      state: 'BUILD_ERROR',
      says: /exit code 3[\s\S]*syntax error in line 3/,
    },
    { tree: outOfMemory(), state: 'DEPLOYMENT_ERROR', says: /ran out of memory \(64 MiB\)/ },
  ]
  for (const { tree, state, says } of cases) {
    await shop.ship(tree)
    const { reason } = await shop.settles()
    assert.match(reason ?? '', says)
    const [entry] = await shop.history()
    assert.equal(entry?.status, state)
    assert.equal((await shop.answer()).body, 'two')
  }
  await oneContainer(shop)
})

test('a commit that does not exist is refused at once', async () => {
  const before = await shop.history()
  const path = `/application/${shop.id}/deploy`
  const { status, body } = await server.api<{ message: string }>('POST', path, { git_commit_id: 'f'.repeat(40) })
  assert.equal(status, 400)
  assert.match(body.message, /git_commit_id/)
  assert.equal((await shop.history()).length, before.length)
})

test('a deployment that is cancelled while it builds ends its build', async () => {
  const mark = `mark-${randomBytes(6).toString('hex')}`
  await shop.ship(building(`/* ${mark} */ setTimeout(() => {}, 90_000)`))
  await until('the build runs', () => isRunningWith(mark))
  await cancel('CANCELED')
  await until('the build has ended', async () => !(await isRunningWith(mark)))
})

test('a deployment that is cancelled while it starts leaves nothing behind', async () => {
  await shop.ship(silent())
  await until(
    'the new container runs',
    async () => (await server.engine.containersWith(serviceLabel(shop))).length === 2,
  )
  await cancel('CANCELED')
  await oneContainer(shop)
  await delivered('DEPLOYMENT_CANCELLED', 2)
})

async function cancel(end: string): Promise<void> {
  const began = now()
  await server.must('POST', `/environment/${shop.environmentId}/cancelDeployment`)
  assert.equal((await shop.settles()).state, end)
  assert.ok(now() - began < 40_000, `took ${now() - began} ms`)
  assert.equal((await shop.answer()).body, 'two')
}

test('the history lists each deployment, newest first', async () => {
  const entries = await shop.history()
  assert.deepEqual(
    entries.map(({ status }) => status),
    [
      'CANCELED',
      'CANCELED',
      'DEPLOYMENT_ERROR',
      'BUILD_ERROR',
      'BUILD_ERROR',
      'DEPLOYMENT_ERROR',
      // A rollback, and forward again.
      'DEPLOYED',
      'DEPLOYED',
      'DEPLOYED',
      'DEPLOYED',
      'DEPLOYED',
    ],
  )
  assert.match(entries.at(-1)?.details.commit?.git_commit_id ?? '', /^[0-9a-f]{40}$/)
  assert.equal(entries.at(-1)?.details.commit?.author_name, 'Ada')
})

test('a restart starts the same version again without losing a request', async () => {
  const former = await oneContainer(shop)
  const traffic = startTraffic(shop.url, 50)
  await server.must('POST', `/application/${shop.id}/restart-service`)
  assert.equal((await shop.settles()).state, 'RUNNING')
  const { lost, bodies } = await traffic.stop()
  assert.deepEqual([lost, [...bodies.keys()]], [[], ['two']])
  assert.notEqual(await oneContainer(shop), former)
})

test('a stopped application answers with a page that says so, and starts again', async () => {
  await server.must('POST', `/application/${shop.id}/stop`)
  assert.equal((await shop.settles()).state, 'STOPPED')
  const { status, body } = await shop.answer()
  assert.equal(status, 503)
  assert.match(body, /stopped/)
  assert.deepEqual(await server.engine.containersWith(serviceLabel(shop)), [])
  assert.equal((await server.engine.volumesWith(serviceLabel(shop))).length, 1)
  await shop.run(web('three'))
  assert.deepEqual(await shop.answer(), { status: 200, body: 'three' })
})

test('an uninstalled application is removed from the engine, and its settings stay', async () => {
  await server.must('POST', `/application/${shop.id}/uninstall`)
  assert.equal((await shop.settles()).state, 'DELETED')
  assert.deepEqual(await everythingOf(shop), [])
  assert.equal((await server.api('GET', `/application/${shop.id}`)).status, 200)
  await shop.deploy()
  assert.equal((await shop.settles()).state, 'RUNNING')
})

test('a deleted application is gone, with its containers, volumes and images', async () => {
  await server.must('DELETE', `/application/${shop.id}`)
  await until(
    'the application is gone',
    async () => (await server.api('GET', `/application/${shop.id}`)).status === 404,
  )
  await until('nothing is left of the application', async () => (await everythingOf(shop)).length === 0)
  await until('the router has no route for it', async () => (await shop.answer()).status === 404)
})

async function everythingOf(application: TestApplication): Promise<unknown[]> {
  const label = serviceLabel(application)
  return [
    ...(await server.engine.containersWith(label)),
    ...(await server.engine.volumesWith(label)),
    ...(await server.engine.imagesOf(application.id)),
  ]
}

test('an environment is deployed as a whole and deleted with everything in it', async () => {
  const environmentId = await makeEnvironment(server, 'pair')
  const [left, right] = [
    await makeApplication(server, { environmentId, name: 'left' }),
    await makeApplication(server, { environmentId, name: 'right' }),
  ]
  await left.git.push(web('on the left'))
  await right.git.push(web('on the right'))
  await server.must('POST', `/environment/${environmentId}/deploy`)
  for (const application of [left, right]) assert.equal((await application.settles()).state, 'RUNNING')
  assert.deepEqual([(await left.answer()).body, (await right.answer()).body], ['on the left', 'on the right'])
  const network = (await server.engine.networksWith(`quayside.environment=${environmentId}`))[0]?.Id
  assert.ok(network)

  await server.must('DELETE', `/environment/${environmentId}`)
  await until(
    'the environment is gone',
    async () => (await server.api('GET', `/environment/${environmentId}`)).status === 404,
  )
  assert.deepEqual([...(await everythingOf(left)), ...(await everythingOf(right))], [])
  assert.equal(await server.engine.ask('GET', `/networks/${network}`), undefined)
  await left.git.remove()
  await right.git.remove()
})

test('a port that never opens is named, with the ports that are open', async () => {
  const { state, reason } = await deaf.settles(110_000)
  assert.equal(state, 'ERROR')
  assert.match(reason ?? '', /did not become ready within 60 s: .*8080.*9090/)
  assert.deepEqual(await server.engine.containersWith(serviceLabel(deaf)), [])
})

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { rights } from '../../server/engines/kubernetes/rights.ts'
import { usePublishedImage } from '../../server/engines/kubernetes/test-image.ts'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { assertToldOnce } from '../support/deployment-facts.ts'
import { seeded } from '../support/seed.ts'
import { startTraffic } from '../support/traffic.ts'
import { until } from '../support/until.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { kubectl } from './cluster/commands.ts'
import { addresses, ports } from './cluster/settings.ts'
import { allow, forbid } from './support/allow.ts'
import { makeChart, webChart } from './support/charts.ts'
import { makeContainer, type TestContainer } from './support/container.ts'
import { chart, helm } from './support/helm.ts'
import { askController } from './support/ingress-bench.ts'
import { forwardFromNode } from './support/node-forward.ts'
import { makePlatformGround, type PlatformGround } from './support/platform-ground.ts'
import { type PlatformInPods, platformIn, selector } from './support/platform-in-pods.ts'

// Servers of the chart in pods, with everything that an operator provides. The tests build on each
// other, because an installation takes a minute.

const image = usePublishedImage()
const opened = new AsyncDisposableStack()
let ground: PlatformGround
let platform: PlatformInPods
let token: string
let organizationId: string
let clusterId: string
let container: TestContainer
/** The observation may be later than the deployment. */
const deployed = /^(?:DEPLOYED|RUNNING)$/

before(
  async () => {
    ground = await makePlatformGround(opened)
    platform = platformIn(ground)
  },
  { timeout: 280_000 },
)
after(() => opened.disposeAsync(), { timeout: 280_000 })

/** Checks whose result depends on the machine of the test, and a name that no name server knows. */
const ofTheMachine = ['disk', 'memory', 'clock', 'domain', 'git', 'public ports']

/** Sends a call again if its server ends, unless that could do something twice. */
async function must<T>(method: string, path: string, body?: unknown): Promise<T> {
  const ask = () => platform.call<T>(method, path, { token, body })
  const { status, body: found } = await (['GET', 'PUT'].includes(method)
    ? until(`${method} ${path} is answered`, () => ask().catch(() => undefined))
    : ask())
  assert.ok(status < 300, `${method} ${path}: ${status} ${JSON.stringify(found)}`)
  return found
}

/** Waits until the cluster is not being changed. Returns its state and the lines of its log. */
async function clusterSettles(): Promise<{ state: string; lines: string }> {
  const path = `/organization/${organizationId}/cluster/${clusterId}`
  const state = await until('the cluster is settled', async () => {
    const { status } = await must<{ status: string }>('GET', `${path}/status`)
    return ['DEPLOYED', 'DEPLOYMENT_ERROR'].includes(status) && status
  })
  const { results } = await must<{ results: { message: { safe_message: string } }[] }>('GET', `${path}/logs`)
  return { state, lines: results.map(({ message }) => message.safe_message).join('\n') }
}

test('three servers become ready on an empty database, and their first start happens once', async () => {
  const notes = await platform.apply('install')
  assert.match(notes, /Quayside starts for/)
  assert.equal((await platform.pods()).length, 3)
  token = await platform.read('/data/admin-token')
  const { results } = await must<{ results: { id: string }[] }>('GET', '/organization')
  assert.equal(results.length, 1)
  organizationId = results[0]?.id ?? ''
})

test('the cluster of the servers is deployed by the first start', async () => {
  const clusters = await must<{ results: { id: string }[] }>('GET', `/organization/${organizationId}/cluster`)
  assert.equal(clusters.results.length, 1)
  clusterId = clusters.results[0]?.id ?? ''
  const { state, lines } = await clusterSettles()
  assert.equal(state, 'DEPLOYED', lines)
})

test('the logs contain no secret', async () => {
  const logs = await platform.logs()
  assert.match(logs, /Ready\./)
  const link = await platform.read('/data/account-link')
  const keys = await Promise.all(['/keys/master.key', '/keys/token.pepper'].map((path) => platform.read(path)))
  for (const secret of [...ground.secrets, token, link, ...keys.map((key) => key.split('\n')[1] ?? '')]) {
    assert.ok(secret.length > 10)
    assert.equal(logs.includes(secret), false)
  }
})

test('the doctor finds nothing in a pod that must be mended', async () => {
  const doctor = ['node', '/app/server/start/doctor.ts', '--json']
  const printed = await platform.kubectl(['exec', 'deployment/quayside', '--', ...doctor])
  const findings: { check: string; status: string; message: string }[] = JSON.parse(printed)
  // The directory, the key, the pepper, the first token and the link to an account.
  assert.equal(findings.filter(({ check }) => check === 'permissions').length, 5, printed)
  const left = findings.filter(({ check, status }) => status !== 'ok' && !ofTheMachine.includes(check))
  assert.deepEqual(left, [])
})

test('a container of a registry is copied to the registry of the cluster, runs and answers at its URL', async () => {
  const tag = (image.reference().split('@')[1] ?? '').replace(':', '-')
  container = await makeContainer(must, { organizationId, clusterId, source: ground.source, tag })
  await must('POST', `/container/${container.id}/deploy`)
  const { state, reason } = await container.settles()
  assert.match(state, deployed, String(reason))
  await until('it answers', async () => (await askController(container.host)).body === 'first')
})

test('a chart in the git host of the platform is installed by the Helm of the image', async () => {
  const { host, port } = await platform.service()
  const url = `${ground.values['publicUrl']}/git/greeter.git`
  const made = await makeChart(
    { apiUrl: `http://${host}:${port}`, token, must, dataDirectory: '/data' },
    {
      environmentId: container.environmentId,
      name: 'greeter',
      settings: { source: { git_repository: { url, branch: 'main', root_path: '/chart' } } },
    },
  )
  opened.defer(() => made.git.remove())
  await made.git.push(webChart())
  assert.deepEqual(await made.run(), { state: 'DEPLOYED', reason: null }, await made.lines())
  const place = ['--namespace', `quayside-${container.environmentId}`]
  const found = await kubectl(['get', 'pod', `--selector=quayside.io/service=${made.id}`, '--output=name', ...place])
  assert.equal(found.trim().split('\n').length, 1)
  await must('DELETE', `/helm/${made.id}`)
  await until('it is gone', async () => {
    return (await platform.call('GET', `/helm/${made.id}`, { token })).status === 404
  })
})

test('an upgrade replaces all servers, and neither the application nor the API loses a request', async (t) => {
  const former = await platform.pods()
  const at = (host: string) => `http://${host}:${ports.ingress}`
  const service = await platform.service()
  const authorized = { authorization: `Token ${token}` }
  const inCluster = `http://${service.host}:${service.port}/organization`
  const traffic = {
    application: startTraffic(at(container.host), 20, addresses.node),
    'API by the Ingress': startTraffic(`${at(ground.host)}/organization`, 10, addresses.node, authorized),
    'API by the Service': startTraffic(inCluster, 10, service.host, authorized),
  }
  t.after(() => Promise.all(Object.values(traffic).map((one) => one.stop())))
  await traffic.application.sends(20)
  await platform.apply('upgrade', { podAnnotations: { changed: 'once' } })
  await traffic.application.sends(20)
  await until('the former servers have left', async () => {
    const names = (await platform.kubectl(['get', 'pods', '--output=name'])).split('\n')
    return former.every((name) => !names.includes(`pod/${name}`))
  })
  const current = await platform.pods()
  assert.equal(current.length, 3)
  assert.deepEqual(
    current.filter((name) => former.includes(name)),
    [],
  )
  for (const [name, one] of Object.entries(traffic)) {
    const { sent, lost, slowestMs } = await one.stop()
    t.diagnostic(`${name}: ${sent} requests, ${lost.length} lost, the slowest took ${Math.round(slowestMs)} ms`)
    assert.deepEqual(lost, [], name)
  }
})

/** Waits until a server has logged a text. A container that has not started has no log. */
const untilLogged = (text: string) =>
  until(`a log has "${text}"`, async () => (await platform.logs().catch(() => '')).includes(text), {
    limitMs: 120_000,
    everyMs: 500,
  })

test('a version with another schema does not start, the running servers answer, and a rollback removes it', async (t) => {
  const former = await platform.pods()
  const { sql } = ground
  // To the next server, the last migration is pending.
  const [last] = await sql<{ name: string; checksum: string; applied_at: Date }[]>`
    delete from schema_migration where name = (select max(name) from schema_migration) returning *`
  assert.ok(last)
  t.after(() => sql`insert into schema_migration ${sql(last)} on conflict do nothing`)
  const inNamespace = ['--namespace', ground.namespace]
  const changed = { ...ground.values, podAnnotations: { changed: 'twice' } }
  await helm(['upgrade', 'quayside', chart, ...inNamespace], changed)
  await untilLogged('Make a backup, and start with QUAYSIDE_SNAPSHOT=off.')
  const present = await platform.pods()
  assert.deepEqual(
    former.filter((name) => !present.includes(name)),
    [],
  )
  await must('GET', '/organization')
  await sql`insert into schema_migration ${sql(last)}`
  await helm(['rollback', 'quayside', ...inNamespace, '--wait', '--timeout=200s'])
  assert.deepEqual((await platform.pods()).toSorted(), former.toSorted())
})

test('a version does not start on a newer schema, and starts by itself once its own is restored', async (t) => {
  const { sql } = ground
  const remove = () => sql`delete from schema_migration where name = '9999_newer.sql'`
  await sql`insert into schema_migration (name, checksum) values ('9999_newer.sql', '')`
  t.after(remove)
  const [one = ''] = await platform.pods()
  await platform.kubectl(['delete', 'pod', one, '--wait=false'])
  await untilLogged('was used by a newer Quayside: its schema has 9999_newer.sql')
  await must('GET', '/organization')
  await remove()
  const rollout = ['rollout', 'status', 'deployment/quayside', '--timeout=200s']
  await kubectl(['--namespace', ground.namespace, ...rollout], { timeoutMs: 220_000 })
})

const kills = 6

test(`deployments and writes are kept although servers are killed ${kills} times`, { timeout: 600_000 }, async (t) => {
  const random = seeded(t)
  const receiver = await startReceiver()
  opened.defer(() => receiver.close())
  const forward = opened.use(await forwardFromNode({ host: '127.0.0.1', port: Number(new URL(receiver.url).port) }))
  await must('POST', `/organization/${organizationId}/webhook`, {
    target_url: `http://${forward.place}/hook`,
    events: ['DEPLOYMENT_STARTED', 'DEPLOYMENT_SUCCESSFUL', 'DEPLOYMENT_FAILURE', 'DEPLOYMENT_CANCELLED'],
  })
  const traffic = startTraffic(`http://${container.host}:${ports.ingress}`, 10, addresses.node)
  t.after(() => traffic.stop())
  const duty = async () => {
    const [row] = await ground.sql<{ owner: string; fence: string }[]>`select owner, fence::text from duty`
    return row ?? assert.fail('nobody has ever had the duty')
  }
  const fenceBefore = Number((await duty()).fence)
  const accepted = new Set<string>()
  const written: string[] = []
  /** A server that is killed before it answers has acknowledged nothing. */
  const attempt = (path: string, body?: unknown) =>
    platform.call<{ id: string }>('POST', `/container/${container.id}${path}`, { token, body }).catch(() => undefined)
  const write = async (): Promise<void> => {
    const key = `KEPT_${written.length}`
    if ((await attempt('/environmentVariable', { key, value: 'x' }))?.status === 201) written.push(key)
  }
  for (let round = 1; round <= kills; round++) {
    await container.edit(`round ${round}`)
    const reply = await until('a deployment is accepted', () => attempt('/deploy'))
    assert.equal(reply.status, 202, JSON.stringify(reply.body))
    accepted.add(reply.body.id)
    await write()
    // The moment is random on purpose.
    await clock.sleep(random.below(3_000))
    const names = await platform.pods()
    const worker = round % 2 === 0 ? await platform.podThatLogged((await duty()).owner) : undefined
    const victim = worker ?? names[random.below(names.length)] ?? ''
    await Promise.all([
      platform.kubectl(['delete', 'pod', victim, '--grace-period=0', '--force']),
      // Its request is in the middle.
      write(),
    ])
    const { state, reason } = await container.settles()
    assert.match(state, deployed, String(reason))
  }
  await until('the last version answers', async () => (await askController(container.host)).body === `round ${kills}`)
  const { sent, lost } = await traffic.stop()
  assert.deepEqual(lost, [], `of ${sent}`)
  const requests = await ground.sql<{ id: string }[]>`
    select request_id as id from deployment_target where service_id = ${container.id} order by service_seq`
  const ids = requests.map(({ id }) => id)
  assert.deepEqual(
    [...accepted].filter((id) => !ids.includes(id)),
    [],
  )
  // The first one was before the webhook.
  await assertToldOnce(ids.slice(1), receiver.deliveries)
  const variables = await must<{ results: { key: string }[] }>('GET', `/container/${container.id}/environmentVariable`)
  const kept = new Set(variables.results.map(({ key }) => key))
  assert.deepEqual(
    written.filter((key) => !kept.has(key)),
    [],
  )
  await until('one release is on the cluster', async () => {
    const place = ['--namespace', `quayside-${container.environmentId}`, '--output=name']
    const found = await kubectl(['get', 'deployment,pod', `--selector=quayside.io/service=${container.id}`, ...place])
    const names = found.trim().split('\n')
    return names.length === 2 && names.filter((name) => name.startsWith('pod/')).length === 1
  })
  t.diagnostic(`${accepted.size} deployments and ${written.length} writes were accepted, ${sent} requests answered`)
  t.diagnostic(`the work went to another server ${Number((await duty()).fence) - fenceBefore} times`)
})

test('a right that the ClusterRole lacks is named with the commands that give it', async (t) => {
  const role = `${ground.namespace}:quayside`
  const verbs = `/rules/${rights.findIndex(({ resource }) => resource === 'deployments')}/verbs`
  const set = (value: readonly string[]) => {
    const patch = JSON.stringify([{ op: 'replace', path: verbs, value }])
    return kubectl(['patch', 'clusterrole', role, '--type=json', '--patch', patch])
  }
  const check = async (): Promise<string> => {
    await must('POST', `/organization/${organizationId}/cluster/${clusterId}/deploy?dry_run=true`)
    const { lines } = await clusterSettles()
    return lines.slice(lines.lastIndexOf('A dry run'))
  }
  assert.doesNotMatch(await check(), /may not/)
  await set(['get', 'list', 'watch', 'patch'])
  t.after(() => forbid(ground.namespace))
  const message =
    /^.* may not create, delete deployments\.apps\..*$/m.exec(await check())?.[0] ?? assert.fail('no finding')
  assert.ok(message.endsWith(`--serviceaccount=${role}`), message)
  await allow(message, ground.namespace)
  assert.doesNotMatch(await check(), /may not/)
  await forbid(ground.namespace)
  assert.match(await check(), /may not/)
  await set(['get', 'list', 'watch', 'create', 'patch', 'delete'])
  assert.doesNotMatch(await check(), /may not/)
})

test('an uninstallation leaves keys, data and running services, and the documented commands remove them', async () => {
  const master = await platform.read('/keys/master.key')
  const instance = await platform.read('/data/instance')
  await helm(['uninstall', 'quayside', '--namespace', ground.namespace, '--wait'])
  const objects = 'deployment,service,ingress,serviceaccount,networkpolicy'
  assert.equal((await platform.kubectl(['get', objects, selector, '--output=name'])).trim(), '')
  const key = '--output=jsonpath={.data.master\\.key}'
  const kept = await platform.kubectl(['get', 'secret', 'quayside-installation', key])
  assert.equal(Buffer.from(kept, 'base64').toString().trim(), master)
  assert.equal((await askController(container.host)).status, 200)
  await platform.kubectl(['delete', 'persistentvolumeclaim', 'quayside-data'])
  await platform.kubectl(['delete', 'secret', 'quayside-installation'])
  const services = ['namespace', '--selector', `quayside.io/instance=${instance}-${clusterId.slice(-12)}`]
  assert.match(await kubectl(['get', ...services, '--output=name']), /namespace/)
  await kubectl(['delete', ...services], { timeoutMs: 120_000 })
})

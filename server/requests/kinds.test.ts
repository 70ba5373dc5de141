import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { dataPathOf, imageOf } from '../releases/versioned.ts'
import type { SettingsOf } from '../services/index.ts'
import { refusalOfKind } from './refusal-of-kind.ts'

/** Deployments of services that are not built: containers, databases, and unsupported kinds. */
const platform = await createPlatform({ after }, { works: true })
const { a, call, engine, database } = platform
await platform.addRepository(a)

const send = async (method: string, path: string, body?: object) => {
  const answer = await call(a.tokens.ADMIN, method, path, body, { 'x-state-dialect': 'full' })
  return { status: answer.status, body: Object(answer.body), text: answer.text }
}
const ends = (path: string) =>
  until(`${path} has settled`, async () => {
    const { body } = await send('GET', `${path}/status`)
    return body.deployment_request_id === null && body.status_details.status !== 'NEVER' ? body : undefined
  })

test('a container runs the image of its registry with the requested tag', async () => {
  const { environmentId, more } = await platform.addObjects(a)
  const { containerId } = more
  const path = `/container/${containerId}`
  const accepted = await send('POST', `${path}/deploy`, { image_tag: '3.1' })
  assert.equal(accepted.status, 202, accepted.text)
  assert.equal(accepted.body.container_id, containerId)
  const status = await ends(path)
  assert.deepEqual([status.state, status.reason], ['DEPLOYED', null])
  assert.equal(status.service_deployment_status, 'UP_TO_DATE')
  assert.deepEqual(
    status.steps.details.map((step: { step_name: string }) => step.step_name),
    ['MIRROR_IMAGE', 'DEPLOYMENT', 'ROUTER_DEPLOYMENT'],
  )
  assert.equal((await send('GET', path)).body.tag, '3.1')
  const [release] =
    await database`select image ->> 'reference' as image from release where service_id = ${containerId ?? ''}`
  assert.match(release?.['image'], /^docker\.io\/library\/hello@sha256:[0-9a-f]{64}$/)
  const { results } = (await send('GET', `${path}/deploymentHistoryV2`)).body
  const { image_name } = (await send('GET', path)).body
  const told = { commit: null, build_pod_name: null, image_name, tag: '3.1', arguments: [] }
  assert.deepEqual(results[0].details, told)
  const ofEnvironment = (await send('GET', `/environment/${environmentId}/deploymentHistoryV2`)).body.results
  assert.deepEqual(ofEnvironment[0].stages[0].services[0].details, told)
})

test('a tag is resolved once, and later actions run its digest until the next deployment', async () => {
  const { containerId = '' } = (await platform.addObjects(a)).more
  const path = `/container/${containerId}`
  const image = 'docker.io/library/hello:moving'
  const after = async (method: string, at: string, body?: object): Promise<string> => {
    const accepted = await send(method, `${path}${at}`, body)
    assert.equal(accepted.status, 202, accepted.text)
    assert.equal((await ends(path)).reason, null)
    const [row] = await database`
      select r.image ->> 'reference' as image from release r join service s on s.release_id = r.id
      where s.id = ${containerId}`
    return row?.['image']
  }
  const first = await after('POST', '/deploy', { image_tag: 'moving' })
  engine.images.push(image)
  assert.equal(await after('POST', '/restart-service'), first)
  engine.images.remove(first)
  assert.equal(await after('POST', '/restart-service'), first)
  assert.ok(engine.images.references().includes(first), 'a removed image is pulled again')
  const second = await after('POST', '/deploy', { image_tag: 'moving' })
  assert.notEqual(second, first)
  engine.images.registryIsThere = false
  try {
    assert.equal(await after('POST', '/restart-service'), second)
    assert.equal(await after('POST', '/deploy', { image_tag: 'moving' }), second)
  } finally {
    engine.images.registryIsThere = true
  }
})

test('a deployment fails with the reason when the registry does not have the image', async () => {
  engine.behave('docker.io/library/hello:gone', { outcome: 'image-missing' })
  const { containerId } = (await platform.addObjects(a)).more
  await send('POST', `/container/${containerId}/deploy`, { image_tag: 'gone' })
  const status = await ends(`/container/${containerId}`)
  assert.equal(status.state, 'DEPLOYMENT_ERROR')
  assert.match(status.reason, /^The image docker\.io\/library\/hello:gone cannot be fetched/)
})

test('a registry with a private address is not contacted and gets no password', async () => {
  const { containerId = '' } = (await platform.addObjects(a)).more
  const fetched = engine.images.fetched.length
  // Simulates a name that resolves to this address later. The address itself would be rejected when
  // the registry is created.
  await database`
    update container_registry set url = 'https://10.1.2.3' where id =
      (select container_registry_id from service where id = ${containerId})`
  try {
    await send('POST', `/container/${containerId}/deploy`, {})
    const status = await ends(`/container/${containerId}`)
    assert.equal(status.state, 'DEPLOYMENT_ERROR')
    assert.match(status.reason, /^The registry ".+" is not asked: .*10\.1\.2\.3/)
    assert.equal(engine.images.fetched.length, fetched)
  } finally {
    await database`update container_registry set url = 'https://docker.io' where url = 'https://10.1.2.3'`
  }
})

test('a database runs with its own credentials and a volume', async () => {
  const { databaseId = '' } = (await platform.addObjects(a)).more
  const path = `/database/${databaseId}`
  assert.equal((await send('POST', `${path}/deploy`)).body.database_id, databaseId)
  assert.equal((await ends(path)).state, 'DEPLOYED')
  const { password } = (await send('GET', `${path}/masterCredentials`)).body
  const inside = await engine.exec(databaseId, ['printenv', 'POSTGRES_PASSWORD'], AbortSignal.timeout(60_000))
  assert.equal(inside.output.trim(), password)
  const stored = await database`select variables::text as text from release where service_id = ${databaseId}`
  assert.ok(!String(stored[0]?.['text']).includes(password))
  assert.equal((await send('POST', `${path}/restart-service`)).status, 202)
  assert.equal((await ends(path)).state, 'RESTARTED')
})

test('named services that cannot run are left out with the reason, and do not block the others', async () => {
  const { environmentId, more } = await platform.addObjects(a)
  const { containerId = '', helmId = '', terraformId = '' } = more
  const named = {
    containers: [{ id: containerId }],
    helms: [{ id: helmId, chart_version: '9.9.9' }],
    terraforms: [{ id: terraformId, git_commit_id: 'no commit' }],
  }
  const accepted = await send('POST', `/environment/${environmentId}/service/deploy`, named)
  assert.equal(accepted.status, 202, accepted.text)
  assert.equal((await ends(`/container/${containerId}`)).state, 'DEPLOYED')
  const skipped = await ends(`/helm/${helmId}`)
  assert.match(skipped.reason, /^Helm charts need Kubernetes/)
  const { terraforms } = (await send('GET', `/environment/${environmentId}/statuses`)).body
  assert.match(terraforms[0].reason, /^Terraform stacks need an image of their engine/)
  assert.equal((await send('GET', `/environment/${environmentId}/status`)).body.last_deployment_state, 'DEPLOYED')

  const { containers: _, ...unable } = named
  const refused = await send('POST', `/environment/${environmentId}/service/deploy`, unable)
  assert.deepEqual([refused.status, /Docker Engine/.test(refused.text)], [400, true])

  const ids = { container_ids: [containerId], helm_ids: [helmId], terraform_ids: [terraformId] }
  const stopped = await send('POST', `/environment/${environmentId}/service/stop`, ids)
  assert.equal(stopped.status, 200, stopped.text)
  await until(
    'the container is stopped',
    async () => (await send('GET', `/container/${containerId}/status`)).body.state === 'STOPPED',
  )
  const { container_ids, ...alone } = ids
  assert.equal((await send('POST', `/environment/${environmentId}/service/stop`, alone)).status, 409)
  for (const action of ['uninstall', 'delete']) {
    const answer = await send('POST', `/environment/${environmentId}/service/${action}`, { ...alone, container_ids })
    assert.equal(answer.status, 200, `${action}: ${answer.text}`)
  }
})

test('a service that cannot run is rejected, and left out of the deployment of its environment', async () => {
  const { environmentId, more } = await platform.addObjects(a)
  for (const kind of ['helm', 'terraform']) {
    const refused = await send('POST', `/${kind}/${more[`${kind}Id`]}/deploy`, {})
    assert.equal(refused.status, 400)
    assert.match(refused.text, /cluster \\"local\\" is a Docker Engine/)
  }
  assert.equal((await send('POST', `/environment/${environmentId}/deploy`)).status, 202)
  const all = await until('the environment is deployed', async () => {
    const { body } = await send('GET', `/environment/${environmentId}/statuses`)
    return body.environment.deployment_request_id === null ? body : undefined
  })
  assert.equal(all.applications[0].state, 'DEPLOYED')
  assert.equal(all.containers[0].state, 'DEPLOYED')
  assert.equal(all.databases[0].state, 'DEPLOYED')
  assert.equal(all.jobs[0].state, 'DEPLOYED')
  assert.match(all.helms[0].reason, /^Helm charts need Kubernetes/)
  const [target] = await database`
    select status from deployment_target where service_id = ${more['terraformId'] ?? ''} order by service_seq desc
    limit 1`
  assert.equal(target?.['status'], 'SKIPPED')
})

test('a deployment rejects a malformed commit of a built service and a malformed tag of an image', async () => {
  const { applicationId, more } = await platform.addObjects(a)
  const rooms = platform.rooms
  assert.equal((await send('POST', `/container/${more['containerId']}/deploy`, { image_tag: '-x' })).status, 400)
  assert.ok(rooms)
  assert.equal((await send('POST', `/application/${applicationId}/deploy`, { git_commit_id: 'no' })).status, 400)
})

test('a new tag is deployed to every service with its image', async () => {
  const { more } = await platform.addObjects(a)
  await database`
    update service set settings = settings || '{"auto_deploy": false}' where kind = 'container'
    and id <> ${more['containerId'] ?? ''}`
  const path = `/organization/${a.organizationId}/container/deploy`
  const answer = await send('POST', path, { image_name: 'library/hello', tag: '9' })
  assert.equal(answer.status, 202, answer.text)
  assert.equal(answer.body.container_id, more['containerId'])
  assert.equal((await ends(`/container/${more['containerId']}`)).state, 'DEPLOYED')
  assert.equal((await send('POST', path, { image_name: 'library/nobody', tag: '9' })).status, 404)
})

test('refusalOfKind decides by kind and cluster alone', () => {
  const local = { name: 'local', engine: 'local' }
  const able = { capabilitiesOf: () => engine.capabilities }
  assert.equal(refusalOfKind(able, 'application', local), undefined)
  assert.equal(refusalOfKind(able, 'database', local), undefined)
  assert.match(refusalOfKind(able, 'helm', local) ?? '', /of the shape "chart": cluster "local"/)
  const charts = { ...engine.capabilities, shapes: new Set(['chart'] as const) }
  assert.equal(refusalOfKind({ capabilitiesOf: () => charts }, 'helm', local), undefined)
  assert.match(refusalOfKind({ capabilitiesOf: () => charts }, 'job', local) ?? '', /of the shape "task"/)
  assert.match(refusalOfKind(able, 'application', { name: 'far', engine: null }) ?? '', /^Cluster "far" is a record/)
})

test('image and volume of a database follow its type and version', () => {
  const settings = { type: 'POSTGRESQL', version: '16' } as Parameters<typeof dataPathOf>[0]
  assert.equal(imageOf({ kind: 'database', settings }, null), 'docker.io/library/postgres:16')
  assert.equal(dataPathOf(settings), '/var/lib/postgresql/data')
  assert.equal(dataPathOf({ ...settings, version: '18.1' }), '/var/lib/postgresql')
})

test('the name of an image begins with the host of its registry, and Docker Hub has one name', () => {
  const settings = { image_name: 'team/web', tag: '1' } as SettingsOf['container']
  const image = (url: string) => imageOf({ kind: 'container', settings }, { id: '', name: '', kind: 'GENERIC_CR', url })
  assert.equal(image('https://registry.example.org:5000/path/'), 'registry.example.org:5000/path/team/web:1')
  for (const url of ['https://docker.io', 'https://index.docker.io/v1/', 'https://hub.docker.com']) {
    assert.equal(image(url), 'docker.io/team/web:1')
  }
})

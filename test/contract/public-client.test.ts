import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import * as published from 'qovery-typescript-axios'
import type { Operation } from '../../contract/operation.ts'
import { containerBody, databaseBody, helmBody, jobBody, terraformBody } from '../support/objects/kinds.ts'
import { createPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'
import { readPublishedTypes } from './published-types.ts'
import { clientName, goodRequest, idsOf, operations, publicOperations } from './requests.ts'

/**
 * Calls every kind of operation of the specification with the published client, as it comes from
 * the registry.
 */
const platform = await createPlatform({ after }, { works: true })
const { a } = platform
await platform.addRepository(a)
const basePath = await platform.listen()

interface ClientAnswer {
  readonly status: number
  readonly data: unknown
}
type ClientMethod = (...args: unknown[]) => Promise<ClientAnswer>

/** Each operation is a method of one of the client's classes, under its own name. */
function methodOf(name: string, configuration: published.Configuration): ClientMethod {
  for (const [className, exported] of Object.entries(published)) {
    if (!className.endsWith('Api') || typeof exported !== 'function') continue
    const method: unknown = Reflect.get(Object(exported.prototype), clientName(name))
    if (typeof method !== 'function') continue
    const api: unknown = Reflect.construct(exported, [configuration])
    return (...args) => Reflect.apply(method, api, args)
  }
  throw new Error(`the published client has no ${name}`)
}

/** Answers that the client returns as a string: YAML, or nothing. */
const isText = ({ contentType, reply, status }: Operation): boolean =>
  status === 204 || contentType !== undefined || reply['type'] === 'null'

/**
 * The client sends one header twice when both kinds of credential are set, so each client gets one
 * kind, as people do.
 */
const ways = {
  Token: new published.Configuration({ apiKey: `Token ${a.tokens.ADMIN}`, basePath }),
  Bearer: new published.Configuration({ accessToken: a.tokens.ADMIN, basePath }),
}

/** replies.test.ts compares all other answers with the client's declarations. */
const specified = new Set(publicOperations.filter(({ tier }) => tier === 0).map(({ name }) => name))

for (const [scheme, configuration] of Object.entries(ways)) {
  for (const [name, operation] of operations.filter(([one]) => specified.has(one))) {
    test(`${name} with ${scheme}`, async () => {
      const { prepare, refused } = goodRequest(name)
      const fresh = await platform.addObjects(a)
      const objects = { ...fresh, ...(await prepare?.(platform, fresh)) }
      const { body, query } = goodRequest(name, objects)
      const unique = typeof body === 'object' && 'name' in body ? { ...body, name: `${scheme} ${name}` } : body
      const args = [...idsOf(operation, objects), ...Object.values(query ?? {}), unique]
      const answer = methodOf(name, configuration)(...args)
      if (refused) return assert.rejects(answer, (error) => Object(error).response.status === refused.status)
      const { status, data } = await answer
      assert.equal(status, operation.status)
      assert.equal(typeof data, isText(operation) ? 'string' : 'object')
      // An organization has at most fifty.
      await platform.database`delete from webhook where id = ${fresh.webhookId}`
    })
  }
}

test('the client walks from a project to an application that runs', async () => {
  const projects = new published.ProjectsApi(ways.Token)
  const project = (await projects.createProject(a.organizationId, { name: 'walk' })).data
  const environments = new published.EnvironmentsApi(ways.Token)
  const environment = (await environments.createEnvironment(project.id, { name: 'production' })).data
  assert.equal(environment.organization.id, a.organizationId)
  const applications = new published.ApplicationsApi(ways.Token)
  const git_repository = { url: 'http://localhost:3000/git/hello.git', branch: 'main', provider: 'GITHUB' as const }
  const ports = [{ internal_port: 8080, external_port: 443, publicly_accessible: true, protocol: 'HTTP' as const }]
  const request = { name: 'shop', git_repository, build_mode: 'DOCKER' as const, ports, healthchecks: {} }
  const { id } = (await applications.createApplication(environment.id, request)).data
  await new published.ApplicationActionsApi(ways.Token).deployApplication(id)
  const main = new published.ApplicationMainCallsApi(ways.Token)
  const state = async () => (await main.getApplicationStatus(id)).data.state
  await until('RUNNING, the state name of the specification', async () => String(await state()) === 'RUNNING')
  const history = new published.ApplicationDeploymentHistoryApi(ways.Token)
  const { results } = (await history.listApplicationDeploymentHistoryV2(id)).data
  assert.equal(results?.[0]?.status, 'DEPLOYED')
})

/**
 * The body that creates each kind, and the client's lifecycle methods with the kind in their name.
 */
const kinds: Readonly<
  Record<string, { readonly body: object; readonly list: string; readonly own: readonly string[] }>
> = {
  Application: {
    body: { name: 'application', git_repository: { url: 'http://localhost:3000/git/hello.git' }, healthchecks: {} },
    list: 'listApplication',
    own: ['listApplicationLinks', 'listApplicationCustomDomain', 'listApplicationEnvironmentVariable'],
  },
  Container: {
    body: containerBody('container', a.objects.more['containerRegistryId'] ?? ''),
    list: 'listContainer',
    own: ['getContainerAdvancedSettings', 'listContainerCustomDomain', 'listContainerSecrets'],
  },
  Database: { body: databaseBody('database'), list: 'listDatabase', own: ['listDatabaseVersion'] },
  Job: { body: jobBody('job'), list: 'listJobs', own: ['getJobAdvancedSettings', 'listJobEnvironmentVariable'] },
  Helm: {
    body: helmBody('helm'),
    list: 'listHelms',
    own: ['getHelmAdvancedSettings', 'getHelmDeploymentRestrictions'],
  },
  Terraform: { body: terraformBody('terraform'), list: 'listTerraforms', own: ['getTerraformAdvancedSettings'] },
}
const declared = readPublishedTypes()

for (const [kind, { body, list, own }] of Object.entries(kinds)) {
  test(`the client completes the lifecycle of the kind ${kind}`, async () => {
    const ask = async (name: string, ...args: unknown[]) => {
      const { data } = await methodOf(name, ways.Token)(...args)
      if (typeof data === 'object') assert.deepEqual(declared.problemsOf(clientName(name), data), [], name)
      return Object(data)
    }
    const { environmentId } = await platform.addObjects(a)
    const { id } = await ask(`create${kind}`, environmentId, { ...body, name: `walk-${kind}` })
    assert.equal((await ask(`get${kind}`, id)).name, `walk-${kind}`)
    const edited = await ask(`edit${kind}`, id, { ...body, name: 'renamed', description: 'changed' })
    assert.deepEqual([edited.name, edited.description], ['renamed', 'changed'])
    const listed = (await ask(list, environmentId)).results.map((one: { id: string }) => one.id)
    assert.ok(listed.includes(id))
    for (const name of own) await ask(name, id)
    const stage = await ask('getServiceDeploymentStage', id)
    await ask('AttachServiceToDeploymentStage', stage.id, id)
    const copy = await ask(`clone${kind}`, id, { name: 'copy', environment_id: environmentId })
    await ask(`delete${kind}`, copy.id)
    await assert.rejects(ask(`get${kind}`, copy.id), (error) => Object(error).response.status === 404)
  })
}

test('the client reports a rejection with its status and message', async () => {
  const reader = new published.Configuration({ apiKey: `Token ${a.tokens.READ}`, basePath })
  const refused = new published.ProjectsApi(reader).createProject(a.organizationId, { name: 'no' })
  await assert.rejects(refused, (error: unknown) => {
    const { response } = Object(error)
    assert.equal(response.status, 403)
    assert.match(response.data.detail, /WRITE/)
    return true
  })
})

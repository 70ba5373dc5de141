import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import * as published from 'qovery-typescript-axios'
import type { Operation } from '../../contract/operation.ts'
import { createPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'
import { clientName, goodRequest, idsOf, operations, publicOperations } from './requests.ts'

/** The published client of this API, as it comes from the registry, walks over what the specification has. */
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

/** What the client hands on as a text: YAML, or nothing. */
const isText = ({ contentType, reply, status }: Operation): boolean =>
  status === 204 || contentType !== undefined || reply['type'] === 'null'

/** The client sends both headers of one name when it is given both kinds of credential: one is what people do. */
const ways = {
  Token: new published.Configuration({ apiKey: `Token ${a.tokens.ADMIN}`, basePath }),
  Bearer: new published.Configuration({ accessToken: a.tokens.ADMIN, basePath }),
}

/** All others are held to the client's declarations in replies.test.ts. */
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
  await until('RUNNING, in the words of the specification', async () => String(await state()) === 'RUNNING')
  const history = new published.ApplicationDeploymentHistoryApi(ways.Token)
  const { results } = (await history.listApplicationDeploymentHistoryV2(id)).data
  assert.equal(results?.[0]?.status, 'DEPLOYED')
})

test('the client tells a refusal by its status and message', async () => {
  const reader = new published.Configuration({ apiKey: `Token ${a.tokens.READ}`, basePath })
  const refused = new published.ProjectsApi(reader).createProject(a.organizationId, { name: 'no' })
  await assert.rejects(refused, (error: unknown) => {
    const { response } = Object(error)
    assert.equal(response.status, 403)
    assert.match(response.data.detail, /WRITE/)
    return true
  })
})

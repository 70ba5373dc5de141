import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { contract, type Operation, type OperationName, pathParameters } from '../../contract/contract.ts'
import type { Objects } from '../support/fixture.ts'
import type { Answer, Platform } from '../support/platform.ts'

/** Every operation with its name. */
export const operations = Object.entries<Operation>(contract)

export const unknownId = '0190ffff-ffff-7fff-bfff-ffffffffffff'

/** The ids that an operation's path needs, in order. */
export const idsOf = (operation: Operation, objects: Objects): string[] =>
  pathParameters(operation.path).map((name) => idOf(name, operation, objects))

function idOf(name: string, { target, path }: Operation, objects: Objects): string {
  const scope = target === 'project' || target === 'environment' ? target : 'service'
  if (name === 'environmentVariableId') return objects.variables[scope]
  if (name === 'secretId') return objects.secrets[scope]
  const noun = path.split('/')[1] ?? ''
  const id =
    objects.more[`${noun}.${name}`] ?? objects.more[name] ?? Object.entries(objects).find(([key]) => key === name)?.[1]
  if (typeof id !== 'string') throw new Error(`the fixture has no ${name}`)
  return id
}

/** The path with these ids in place of its parameters. */
export const pathOf = (operation: Operation, ids: readonly string[]): string =>
  ids.reduce((path, id) => path.replace(/\{\w+\}/, id), operation.path)

/** Members of an error, and nothing else; `status` and `detail` repeat what they must. */
export function assertError(answer: Answer, status: number): asserts answer is Answer & { body: ErrorAnswer } {
  assert.equal(answer.status, status, answer.text)
  const body = Object(answer.body)
  assert.deepEqual(Object.keys(body).sort(), ['detail', 'error', 'message', 'status'])
  assert.equal(body.status, status)
  assert.equal(body.detail, body.message)
  assert.ok(typeof body.error === 'string' && body.error !== '')
  assert.match(String(answer.headers['content-type']), /^application\/json; charset=utf-8$/)
}

export interface ErrorAnswer {
  readonly status: number
  readonly error: string
  readonly message: string
  readonly detail: string
}

/** All that a client can compare: two answers that are the same here tell nothing apart. */
export const comparable = ({ status, headers, text }: Answer): unknown => {
  const { 'x-request-id': _id, date: _date, ...rest } = headers
  return { status, headers: rest, text }
}

/** An operation of the public API, as its clients know it. */
export interface PublicOperation {
  readonly name: string
  readonly method: string
  readonly path: string
  /** 0 and 1 have to be there, 2 where it needs no outside cloud. */
  readonly tier: 0 | 1 | 2
  readonly success: readonly number[]
}

export const publicOperations: readonly PublicOperation[] = JSON.parse(
  readFileSync(new URL('../../contract/public-operations.json', import.meta.url), 'utf8'),
)

/** What makes an operation succeed, beside the ids of its path. */
export interface Good {
  readonly body?: object
  /** Brings the objects into the state that the operation needs; may exchange some. */
  readonly prepare?: (platform: Platform, objects: Objects) => Promise<Partial<Objects> | undefined>
}

const name = { name: 'A new name' }
const git = { name: 'A git token', type: 'GITHUB', token: 'ghp_0123456789' }
const webhook = { target_url: 'https://hooks.invalid/other', events: ['DEPLOYMENT_SUCCEEDED'] }
const repository = { url: 'http://localhost:3000/git/hello.git' }
const newVariable = { body: { key: 'NEW_KEY', value: 'new' } }
const changedVariable = { body: { key: 'OTHER_KEY', value: 'other' } }

/** As if its last deployment had gone well; nothing runs. */
const deployed = async ({ database }: Platform, { applicationId }: Objects): Promise<undefined> => {
  await database`
    update service set state = 'DEPLOYED', release_id = id, last_deployment_date = now(), deployed_config_version = 1
    where id = ${applicationId}`
}

const goodRequests: Partial<Record<OperationName, Good>> = {
  editOrganization: { body: name },
  createOrganizationApiToken: { body: { ...name, scope: 'read', expires_at: '2090-01-01T00:00:00+01:00' } },
  createGitToken: { body: git },
  editGitToken: { body: { ...git, name: 'A changed git token', token: '' } },
  listDirectoriesFromGitRepository: { body: repository },
  createOrganizationWebhook: { body: webhook },
  editOrganizationWebhook: { body: webhook },
  createProject: { body: name },
  editProject: { body: { name: 'A changed name' } },
  deleteProject: {
    prepare: async (platform, { organizationId }) => {
      const { id } = await platform.rooms.projects.create(organizationId, { name: 'empty' })
      return { projectId: id }
    },
  },
  createEnvironment: { body: { ...name, mode: 'STAGING' } },
  editEnvironment: { body: name },
  stopEnvironment: { prepare: deployed },
  cancelEnvironmentDeployment: {
    prepare: async ({ call, a }, { environmentId }) => {
      assert.equal((await call(a.tokens.DEPLOY, 'POST', `/environment/${environmentId}/deploy`)).status, 202)
      return undefined
    },
  },
  createApplication: { body: { name: 'shop', git_repository: repository } },
  editApplication: { body: { cpu: 200 } },
  deployApplication: { body: {} },
  redeployApplication: { prepare: deployed },
  stopApplication: { prepare: deployed },
  rebootApplication: { prepare: deployed },
  uninstallApplication: { prepare: deployed },
  createProjectEnvironmentVariable: newVariable,
  createProjectSecret: newVariable,
  createEnvironmentEnvironmentVariable: newVariable,
  createEnvironmentSecret: newVariable,
  createApplicationEnvironmentVariable: newVariable,
  createApplicationSecret: newVariable,
  editProjectEnvironmentVariable: changedVariable,
  editProjectSecret: changedVariable,
  editEnvironmentEnvironmentVariable: changedVariable,
  editEnvironmentSecret: changedVariable,
  editApplicationEnvironmentVariable: changedVariable,
  editApplicationSecret: changedVariable,
}

/** Those of one area each: a file of `good/`. */
const areas: readonly Partial<Record<OperationName, Good>>[] = [goodRequests]
const all = new Map(areas.flatMap((area) => Object.entries<Good>(area)))
/** By the name of the operation; nothing special where no area names it. */
export const goodRequest = (name: string): Good => all.get(name) ?? {}
export const goodBody = (name: string): object | undefined => goodRequest(name).body

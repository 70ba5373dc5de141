import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { contract, type Operation, type OperationName, pathParameters } from '../../contract/contract.ts'
import type { Objects } from '../support/fixture.ts'
import type { Answer, Platform } from '../support/platform.ts'
import { accessRequests } from './good/access.ts'
import { backups } from './good/backups.ts'
import { changes } from './good/changes.ts'
import { clusters } from './good/clusters.ts'
import { environments } from './good/environments.ts'
import { gitRequests } from './good/git.ts'
import { kinds } from './good/kinds.ts'
import { parts } from './good/parts.ts'
import { variables } from './good/variables.ts'

/** Every operation with its name. */
export const operations = Object.entries<Operation>(contract)

export const unknownId = '0190ffff-ffff-7fff-bfff-ffffffffffff'

/** Returns the ids that an operation's path needs, in order. */
export const idsOf = (operation: Operation, objects: Objects): string[] =>
  pathParameters(operation.path).map((name) => idOf(name, operation, objects))

function idOf(name: string, { target, path, provider }: Operation, objects: Objects): string {
  const scope = target === 'project' || target === 'environment' ? target : 'service'
  const noun = path.split('/')[1] ?? ''
  const ownId = objects.more[`${provider ?? noun}.${name}`]
  if (name === 'environmentVariableId') return ownId ?? objects.variables[scope]
  if (name === 'secretId') return ownId ?? objects.secrets[scope]
  const id = ownId ?? objects.more[name] ?? Object.entries(objects).find(([key]) => key === name)?.[1]
  if (typeof id !== 'string') throw new Error(`the fixture has no ${name}`)
  return id
}

/**
 * Returns whether a path parameter is an id. Other parameters are words that are the same for every
 * caller.
 */
export const isId = ({ path }: Operation, position: number): boolean =>
  pathParameters(path)[position]?.endsWith('Id') === true

/** Returns the query of a good request, with its question mark. */
export const queryOf = ({ query }: Good): string => (query ? `?${new URLSearchParams(query)}` : '')

/** Returns the path with these ids in place of its parameters. */
export const pathOf = (operation: Operation, ids: readonly string[]): string =>
  ids.reduce((path, id) => path.replace(/\{\w+\}/, id), operation.path)

/**
 * Asserts that a body has exactly the members of an error. `status` and `detail` must repeat the
 * others.
 */
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

/**
 * Returns everything that a client can compare, without the id of its own request in the message
 * and the bytes of that id in the length: answers with the same shape are indistinguishable.
 */
export const comparable = ({ status, headers, text }: Answer, id: string): unknown => {
  const { 'x-request-id': _id, date: _date, 'content-length': length, ...rest } = headers
  const anonymous = text.replaceAll(` ${id.toLowerCase()} does not exist`, ' does not exist')
  const named = Buffer.byteLength(text) - Buffer.byteLength(anonymous)
  return { status, headers: rest, length: Number(length) - named, text: anonymous }
}

/** An operation of the public API, as its clients know it. */
export interface PublicOperation {
  readonly name: string
  readonly method: string
  readonly path: string
  /** 0 and 1 must exist, 2 only if it needs no outside cloud. */
  readonly tier: 0 | 1 | 2
  readonly success: readonly number[]
}

export const publicOperations: readonly PublicOperation[] = JSON.parse(
  readFileSync(new URL('../../contract/public-operations.json', import.meta.url), 'utf8'),
)

/** Returns the method name of the published client: `unlock-cluster` becomes `unlockCluster`. */
export const clientName = (name: string): string =>
  name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()).replace(/^[A-Z]/, (first) => first.toLowerCase())

/** A request that succeeds for an operation, in addition to the ids of its path. */
export interface Good {
  /** A string if the operation accepts something other than JSON. */
  readonly body?: object | string
  /** In the parameter order of the published client's method. */
  readonly query?: Readonly<Record<string, string>>
  /** Returns the parts that name ids, once the objects are prepared. */
  readonly of?: (objects: Objects) => Pick<Good, 'body' | 'query'>
  /** The rejection of an operation that this platform cannot do: status and reason. */
  readonly refused?: { readonly status: number; readonly reason: RegExp }
  /** The list that it answers is always empty here. */
  readonly empty?: true
  /** Returns the caller's token if it is not the admin token of A. Runs after `prepare`. */
  readonly credential?: (platform: Platform, objects: Objects) => Promise<string>
  /** Brings the objects into the state that the operation needs. May replace some of them. */
  readonly prepare?: (platform: Platform, objects: Objects) => Promise<Partial<Objects> | undefined>
}

const name = { name: 'A new name' }
const git = { name: 'A git token', type: 'GITHUB', token: 'ghp_0123456789' }
const webhook = { target_url: 'https://hooks.invalid/other', events: ['DEPLOYMENT_SUCCEEDED'] }
const repository = { url: 'http://localhost:3000/git/hello.git' }
const newVariable = { body: { key: 'NEW_KEY', value: 'new' } }
const changedVariable = { body: { key: 'OTHER_KEY', value: 'other' } }

/** Prepares an application as if its last deployment had succeeded; nothing runs. */
const deployed = async ({ database }: Platform, { applicationId }: Objects): Promise<undefined> => {
  await database`
    update service set state = 'DEPLOYED', release_id = id, last_deployment_date = now(), deployed_config_version = 1
    where id = ${applicationId}`
}

const goodRequests: Partial<Record<OperationName, Good>> = {
  editOrganization: { body: name },
  rotateOrganizationKeys: {
    prepare: async ({ database }) => {
      await database`delete from key_rotation`
      return undefined
    },
  },
  createOrganizationApiToken: { body: { ...name, scope: 'read', expires_at: '2090-01-01T00:00:00+01:00' } },
  createGitToken: { body: git },
  editGitToken: { body: { ...git, name: 'A changed git token', type: 'GITLAB', token: '' } },
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

/** Good requests by area: each is a file of `good/`. */
const areas: readonly Partial<Record<OperationName, Good>>[] = [
  goodRequests,
  clusters,
  parts,
  accessRequests,
  variables,
  environments,
  changes,
  gitRequests,
  kinds,
  backups,
]
const all = new Map(areas.flatMap((area) => Object.entries<Good>(area)))
/** Returns the expected rejection of an operation that always rejects. */
function refusalOf(name: string): Good {
  const reason = operations.find(([one]) => one === name)?.[1].refuses
  return reason === undefined
    ? {}
    : { refused: { status: 400, reason: new RegExp(reason.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')) } }
}
/** Returns the good request of an operation; an empty one if no area names it. */
export function goodRequest(name: string, objects?: Objects): Good {
  const good = { ...refusalOf(name), ...all.get(name) }
  return objects && good.of ? { ...good, ...good.of(objects) } : good
}
export const goodBody = (name: string, objects?: Objects): object | string | undefined =>
  goodRequest(name, objects).body

import type { Permission } from '../../contract/operation.ts'
import { insertBuiltInCluster } from '../../server/clusters/index.ts'
import type { Composition } from '../../server/composition/index.ts'
import { type Database, inTransaction } from '../../server/database/index.ts'
import { newId } from '../../server/lib/id.ts'
import { findEnvironment, insertOrganization } from '../../server/organizations/index.ts'
import { addDefaultRegistries } from '../../server/registries/index.ts'
import type { ApplicationBody } from '../../server/services/index.ts'
import { createSecret, createVariable, type Scope } from '../../server/variables/index.ts'
import { canaryOf } from './canary.ts'
import { accessObjects } from './objects/access.ts'
import { addBackups } from './objects/backups.ts'
import { addChartObjects } from './objects/charts.ts'
import { addClusterObjects } from './objects/clusters.ts'
import { addEnvironmentObjects } from './objects/environments.ts'
import { addGitObjects } from './objects/git.ts'
import { addJobRun } from './objects/job-runs.ts'
import { addKinds } from './objects/kinds.ts'
import { addParts } from './objects/parts.ts'
import { addStackObjects } from './objects/stacks.ts'
import { addVariableObjects } from './objects/variables.ts'

/** An organization with one token for each permission, and two invalid tokens. */
export interface Tenant {
  readonly name: string
  readonly organizationId: string
  readonly clusterId: string
  readonly tokens: Readonly<Record<Permission | 'expired' | 'revoked', string>>
}

/** One object of each type that an organization can have, by the names of path parameters. */
export interface Objects {
  readonly organizationId: string
  readonly clusterId: string
  readonly projectId: string
  readonly environmentId: string
  readonly applicationId: string
  readonly apiTokenId: string
  readonly gitTokenId: string
  readonly webhookId: string
  /** By the scope of the variable. */
  readonly variables: Readonly<Record<'project' | 'environment' | 'service', string>>
  readonly secrets: Readonly<Record<'project' | 'environment' | 'service', string>>
  /**
   * The objects made by the files in `objects/`, by the names of path parameters. Ambiguous names
   * are `<first word of the path>.<name>`.
   */
  readonly more: Readonly<Record<string, string>>
}

export { canaryOf }

const maker = { name: 'fixture', permissions: ['ADMIN' as const] }
const permissions = ['READ', 'DEPLOY', 'WRITE', 'ADMIN'] as const

export async function addTenant(database: Database, { rooms }: Composition, name: string): Promise<Tenant> {
  const [organizationId, clusterId, now] = [newId(), newId(), new Date()]
  await inTransaction(database, async (sql) => {
    await insertOrganization(sql, { id: organizationId, name, now })
    await insertBuiltInCluster(sql, { id: clusterId, organization_id: organizationId, name: 'local', now })
    await addDefaultRegistries(sql, organizationId, now)
  })
  const mint = (scope: Permission, label: string = scope) =>
    rooms.apiTokens.create(organizationId, maker, { name: label, scope })
  const [READ, DEPLOY, WRITE, ADMIN] = await Promise.all(permissions.map((permission) => mint(permission)))
  const [expired, revoked] = await Promise.all([mint('ADMIN', 'expired'), mint('ADMIN', 'revoked')])
  if (!READ || !DEPLOY || !WRITE || !ADMIN) throw new Error('a token was not made')
  await database`update api_token set expires_at = now() - interval '1 millisecond' where id = ${expired.id}`
  await rooms.apiTokens.remove(organizationId, revoked.id)
  const all = { READ, DEPLOY, WRITE, ADMIN, expired, revoked }
  const text = (key: keyof typeof all): string => all[key].token
  const tokens = {
    READ: text('READ'),
    DEPLOY: text('DEPLOY'),
    WRITE: text('WRITE'),
    ADMIN: text('ADMIN'),
    expired: text('expired'),
    revoked: text('revoked'),
  }
  return { name, organizationId, clusterId, tokens }
}

/**
 * Returns valid settings of an application that uses the repository `hello` of the built-in git
 * host.
 */
export const applicationBody = (name: string, change: Partial<ApplicationBody> = {}): ApplicationBody => ({
  name,
  git_repository: { url: 'http://localhost:3000/git/hello.git', branch: 'main' },
  build_mode: 'DOCKER',
  cpu: 100,
  memory: 64,
  gpu: 0,
  min_running_instances: 1,
  max_running_instances: 1,
  auto_preview: false,
  ports: [{ internal_port: 8080, publicly_accessible: true, protocol: 'HTTP' }],
  storage: [],
  arguments: [],
  healthchecks: {},
  ...change,
})

/** Adds further objects. Each area has one such function in a file in `objects/`. */
export type Contribution = (given: {
  readonly database: Database
  readonly rooms: Composition['rooms']
  readonly tenant: Tenant
  /** The objects made so far. */
  readonly objects: Objects
  /** A number that differs for every call. */
  readonly suffix: number
}) => Promise<Readonly<Record<string, string>>>

/** A function rather than a constant, because these files import this one. */
const contributions = (): readonly Contribution[] => [
  addGitObjects,
  addKinds,
  addClusterObjects,
  addParts,
  accessObjects,
  addVariableObjects,
  addEnvironmentObjects,
  addBackups,
  addChartObjects,
  addStackObjects,
  addJobRun,
]

let made = 0

/** Adds one object of each type to the organization. */
export async function addObjects(database: Database, { rooms }: Composition, tenant: Tenant): Promise<Objects> {
  const { organizationId, clusterId } = tenant
  const suffix = ++made
  const canary = canaryOf(tenant)
  const [apiToken, gitToken, webhook, project] = await Promise.all([
    rooms.apiTokens.create(organizationId, maker, { name: `token ${suffix}`, scope: 'READ' }),
    rooms.gitTokens.create(organizationId, { name: `git ${suffix}`, type: 'GITLAB', token: canary }),
    rooms.webhooks.create(organizationId, {
      target_url: 'https://hooks.invalid/quayside',
      target_secret: canary,
      events: ['DEPLOYMENT_STARTED'],
    }),
    rooms.projects.create(organizationId, { name: `project ${suffix}` }),
  ])
  const { id: environmentId } = await rooms.environments.create(project, tenant.clusterId, { name: `env ${suffix}` })
  const environment = await findEnvironment(database, environmentId)
  if (!environment) throw new Error('the new environment does not exist')
  const application = await rooms.services.create('application', environment, applicationBody(`app-${suffix}`))
  const ids = { projectId: project.id, environmentId, applicationId: application.id, organizationId }
  const own = await addVariables(rooms, ids, canary)
  const known = { ...ids, ...own, clusterId, apiTokenId: apiToken.id, gitTokenId: gitToken.id, webhookId: webhook.id }
  const more: Record<string, string> = {}
  for (const add of contributions())
    Object.assign(more, await add({ database, rooms, tenant, objects: { ...known, more }, suffix }))
  return { ...known, more }
}

async function addVariables(
  rooms: Composition['rooms'],
  ids: Pick<Objects, 'organizationId' | 'projectId' | 'environmentId' | 'applicationId'>,
  canary: string,
): Promise<Pick<Objects, 'variables' | 'secrets'>> {
  const { organizationId, projectId, environmentId, applicationId: serviceId } = ids
  const project: Scope = { scope: 'PROJECT', projectId, organizationId }
  const environment: Scope = { ...project, scope: 'ENVIRONMENT', environmentId }
  const service: Scope = { ...environment, scope: 'SERVICE', serviceId, serviceName: 'app', kind: 'application' }
  const scopes = [project, environment, service]
  const variables = await Promise.all(
    scopes.map((scope) => createVariable(rooms, scope, { key: `PLAIN_${scope.scope}`, value: 'visible' })),
  )
  const secrets = await Promise.all(
    scopes.map((scope) => createSecret(rooms, scope, { key: `HIDDEN_${scope.scope}`, value: canary })),
  )
  const byScope = (records: readonly { id: string }[]) => {
    const [ofProject, ofEnvironment, ofService] = records.map(({ id }) => id)
    if (!ofProject || !ofEnvironment || !ofService) throw new Error('a variable was not made')
    return { project: ofProject, environment: ofEnvironment, service: ofService }
  }
  return { variables: byScope(variables), secrets: byScope(secrets) }
}

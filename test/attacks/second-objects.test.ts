import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Operation, pathParameters } from '../../contract/operation.ts'
import { newId } from '../../server/lib/id.ts'
import { goodRequest, idsOf, operations, pathOf, queryOf } from '../contract/requests.ts'
import type { Schema } from '../contract/sample.ts'
import type { Objects } from '../support/fixture.ts'
import { addPerson, tokenWithRole } from '../support/people.ts'
import { createPlatform } from '../support/platform.ts'

/**
 * Every id that an operation accepts besides its target, in the path, the query or the body, and
 * the rule that protects the named object:
 * - `part`: it must be a part of the target or of the target's environment. The same part of
 *   another environment is unknown.
 * - `organization`: it must belong to the organization. One of another organization is unknown.
 * - `place`: the caller needs a permission on the object. All permissions on the target are not
 *   enough.
 * - `own`: the caller makes or keeps the id for entries of the body. It names nothing elsewhere.
 * - `filter`: it narrows a list to objects that the caller may see. One of another organization is
 *   answered like an unknown one.
 * - `refused`: the operation does not accept it.
 * - `elsewhere`: server/rollout/shown-plans.test.ts tests it, with an engine that runs stacks.
 * A new reference without a rule fails the first test.
 */
type Rule = 'part' | 'organization' | 'place' | 'own' | 'filter' | 'refused' | 'elsewhere'

const rules: Readonly<Record<string, Rule>> = {
  annotationsGroupId: 'organization',
  apiTokenId: 'organization',
  backupId: 'part',
  clusterId: 'organization',
  containerRegistryId: 'organization',
  credentialsId: 'organization',
  customDomainId: 'part',
  customRoleId: 'organization',
  deploymentRestrictionId: 'part',
  deploymentRuleId: 'part',
  environmentVariableId: 'part',
  gitTokenId: 'organization',
  gitWebhookId: 'organization',
  helmRepositoryId: 'organization',
  inviteId: 'organization',
  organizationId: 'organization',
  secretManagerAccessId: 'refused',
  labelsGroupId: 'organization',
  // Templates are the same for every environment of the organization.
  lifecycleTemplateId: 'organization',
  secretId: 'part',
  serviceId: 'part',
  stageId: 'part',
  webhookEventId: 'part',
  runId: 'part',
  diffId: 'part',
  jobRunId: 'part',
  stateId: 'part',
  webhookId: 'organization',

  'query.deploymentRequestId': 'place',
  'query.gitTokenId': 'organization',
  'query.parent_id': 'place',
  'query.service_id': 'place',
  'query.startId': 'filter',
  'query.cluster_id': 'filter',
  'query.environment_id': 'filter',
  'query.project_id': 'filter',
  'query.targetId': 'filter',
  'query.projectId': 'filter',
  'query.environmentId': 'filter',
  'query.serviceProjectId': 'filter',
  'query.serviceEnvironmentId': 'filter',

  'body.alias_parent_id': 'place',
  'body.annotations_groups[].id': 'organization',
  'body.application_ids[]': 'part',
  'body.services[].id': 'part',
  'body.applications[].application_id': 'part',
  'body.cloud_provider_credentials.credentials.id': 'organization',
  'body.cluster': 'place',
  'body.cluster_id': 'place',
  // The rule applies to environments that others create, and creating one checks the cluster again.
  'createDeploymentRule body.cluster_id': 'organization',
  'editProjectDeployemtnRule body.cluster_id': 'organization',
  'body.cluster_permissions[].cluster_id': 'organization',
  'body.container_ids[]': 'part',
  'body.containers[].id': 'part',
  'body.credentials.id': 'organization',
  'body.database_ids[]': 'part',
  'body.databases[]': 'part',
  'body.environment_id': 'place',
  'body.git_repository.git_token_id': 'organization',
  'body.git_token_id': 'organization',
  'body.helm_ids[]': 'part',
  'body.helms[].id': 'part',
  'body.job_ids[]': 'part',
  'body.jobs[].id': 'part',
  'body.labels_groups[].id': 'organization',
  'body.override_parent_id': 'place',
  'body.plan_run_id': 'elsewhere',
  'body.ports[].id': 'own',
  'body.project_deployment_rule_ids_in_order[]': 'part',
  'body.project_id': 'place',
  'body.project_permissions[].project_id': 'organization',
  'body.registry_id': 'organization',
  'body.role_id': 'organization',
  'body.blueprint_id': 'refused',
  'body.secret_manager_access_id': 'refused',
  'body.source.docker.git_repository.git_token_id': 'organization',
  'body.source.git_repository.git_token_id': 'organization',
  'body.source.helm_repository.repository': 'organization',
  'body.source.image.registry_id': 'organization',
  'body.storage[].id': 'own',
  'body.terraform_files_source.git_repository.git_token_id': 'organization',
  'body.terraform_ids[]': 'part',
  'body.terraforms[].id': 'part',
  'body.terraforms[].plan_run_id': 'elsewhere',
  'body.user_id': 'organization',
  'body.values_override.file.git.git_repository.git_token_id': 'organization',
  'body.variable_parent_id': 'place',
}

interface Reference {
  readonly name: string
  readonly in: 'path' | 'query' | 'body'
  readonly path: readonly (string | number)[]
}

function* idsIn(schema: Schema, path: readonly (string | number)[] = []): Generator<readonly (string | number)[]> {
  if (schema.format === 'uuid') yield path
  for (const choice of schema.anyOf ?? []) yield* idsIn(choice, path)
  for (const [name, property] of Object.entries(schema.properties ?? {})) yield* idsIn(property, [...path, name])
  if (schema.items) yield* idsIn(schema.items, [...path, 0])
}
const nameOf = (path: readonly (string | number)[]): string =>
  path.map((part, index) => (part === 0 ? '[]' : `${index === 0 ? '' : '.'}${part}`)).join('')

/** Lists all references of an operation except its target. */
function referencesOf(operation: Operation): Reference[] {
  const others = pathParameters(operation.path).slice(operation.target === 'caller' ? 0 : 1)
  const parts = [
    ...others.filter((name) => name.endsWith('Id')).map((name) => ({ name, in: 'path' as const, path: [name] })),
    ...['query' as const, 'body' as const].flatMap((place) =>
      [...idsIn((operation[place] ?? {}) as Schema)].map((path) => ({
        name: `${place}.${nameOf(path)}`,
        in: place,
        path,
      })),
    ),
  ]
  return [...new Map(parts.map((part) => [part.name, part])).values()]
}

const all = operations
  .filter(([, { refuses }]) => refuses === undefined)
  .flatMap(([name, operation]) =>
    referencesOf(operation).map((reference) => {
      const special = `${name} ${reference.name}`
      return { name, operation, reference, row: special in rules ? special : reference.name }
    }),
  )

test('every reference beside a target has a rule, and every rule is used', () => {
  const found = new Set(all.map(({ row }) => row))
  assert.deepEqual([...found].filter((name) => !(name in rules)).sort(), [])
  assert.deepEqual(Object.keys(rules).filter((name) => !found.has(name)), [])
}) // biome-ignore format: one line

/** Sets the reference in the body and creates the objects around it. */
function withValue(value: unknown, [first, ...rest]: readonly (string | number)[], given: unknown): unknown {
  if (first === undefined) return given
  const inner = withValue(Array.isArray(value) ? value[0] : Object(value)[first], rest, given)
  return typeof first === 'number' ? [inner] : { ...Object(value), [first]: inner }
}

/** Returns the id of a reference among these objects. */
function idFor({ name, operation, reference }: (typeof all)[number], objects: Objects): string {
  const { more } = objects
  if (reference.in === 'path') {
    const position = pathParameters(operation.path).indexOf(reference.name)
    return idsOf(operation, objects)[position] ?? ''
  }
  const last = reference.path.findLast((part) => typeof part === 'string') ?? ''
  const parent = reference.path.slice(0, -1).findLast((part) => typeof part === 'string') ?? ''
  const known: Readonly<Record<string, string | undefined>> = {
    ...more,
    ...{ git_token_id: objects.gitTokenId, gitTokenId: objects.gitTokenId, registry_id: more['containerRegistryId'] },
    ...{ repository: more['helmRepositoryId'], cluster: objects.clusterId, cluster_id: objects.clusterId },
    ...{ environment_id: objects.environmentId, project_id: objects.projectId, role_id: more['customRoleId'] },
    ...{ variable_parent_id: objects.projectId, parent_id: objects.applicationId, service_id: objects.applicationId },
    ...{
      alias_parent_id: objects.applicationId,
      override_parent_id: objects.applicationId,
      user_id: people.get(objects),
    },
    ...{ project_deployment_rule_ids_in_order: more['project.deploymentRuleId'], startId: more['deploymentRequestId'] },
    ...{ application_id: objects.applicationId, application_ids: objects.applicationId, databases: more['databaseId'] },
    ...{ targetId: objects.applicationId, projectId: objects.projectId, environmentId: objects.environmentId },
    services: objects.applicationId,
    ...{ serviceProjectId: objects.projectId, serviceEnvironmentId: objects.environmentId },
    ...Object.fromEntries(
      ['container', 'database', 'job', 'helm', 'terraform'].map((kind) => [`${kind}_ids`, more[`${kind}Id`]]),
    ),
    ...Object.fromEntries(['container', 'job', 'helm', 'terraform'].map((kind) => [`${kind}s`, more[`${kind}Id`]])),
    ...{
      annotations_groups: more['annotationsGroupId'],
      labels_groups: more['labelsGroupId'],
      credentials: more['aws.credentialsId'],
    },
  }
  const id = known[last === 'id' ? parent : last]
  assert.ok(id, `${name}: the test has no object for ${reference.name}`)
  return id
}

const platform = await createPlatform({ after })
const { a, b, call, rooms } = platform
const people = new Map<Objects, string>()
for (const tenant of [a, b]) {
  const member = { organizationId: tenant.organizationId, role: 'VIEWER' as const }
  people.set(tenant.objects, (await addPerson(platform.database, { email: `${newId()}@a.example`, member })).id)
}
/** Objects of the same organization in another project. */
const sibling = await platform.addObjects(a)

/** The valid fields around a reference, so that only its id is wrong. */
const around = (name: string): Readonly<Record<string, object>> => ({
  cluster_permissions: { cluster_permissions: [{ permission: 'VIEWER' }] },
  'source.helm_repository': {
    source: { helm_repository: { chart_name: 'web', chart_version: '1.0.0' }, git_repository: null },
  },
  'source.image': { source: { image: { image_name: 'web', tag: '1' } } },
  values_override: { values_override: { file: { git: { git_repository: {}, paths: ['values.yaml'] } } } },
  user_id: name === 'editOrganizationMemberRole' ? { user_id: people.get(a.objects) } : {},
  role_id: name === 'editOrganizationMemberRole' ? { user_id: people.get(a.objects) } : {},
})

/** Sends a valid request with another id in place of the reference. */
async function ask(token: string, one: (typeof all)[number], id: string) {
  const { name, operation, reference } = one
  const good = goodRequest(name, a.objects)
  const ids = idsOf(operation, name === 'editCluster' ? { ...a.objects, ...recorded } : a.objects)
  const query = new URLSearchParams(good.query)
  const needed = Object.entries(around(name)).flatMap(([start, more]) =>
    nameOf(reference.path).startsWith(start) ? [more] : [],
  )
  let body: unknown = operation.body && { ...Object(good.body), ...needed[0] }
  if (reference.in === 'path') ids[pathParameters(operation.path).indexOf(reference.name)] = id
  if (reference.in === 'query') query.set(String(reference.path[0]), id)
  if (reference.in === 'body') {
    if (reference.path.includes('git_repository') || name === 'listDirectoriesFromGitRepository')
      body = withValue(body, [...reference.path.slice(0, -1), 'url'], 'https://gitlab.com/team/shop.git')
    body = withValue(body, reference.path, id)
  }
  const path = `${pathOf(operation, ids)}${queryOf({ query: Object.fromEntries(query) })}`
  return call(token, operation.method, path, body)
}

async function managerOfProject(): Promise<string> {
  const { id } = await rooms.customRoles.create(a.organizationId, { name: newId() })
  await rooms.customRoles.edit(a.organizationId, id, {
    name: newId(),
    cluster_permissions: [],
    project_permissions: [{ project_id: a.objects.projectId, is_admin: true, permissions: [] }],
  })
  return tokenWithRole(platform, a.organizationId, id)
}
const manager = await managerOfProject()
await goodRequest('createContainer').prepare?.(platform, a.objects)
/** A cluster whose provider the valid request may name. */
const recorded = await goodRequest('editCluster').prepare?.(platform, a.objects)

for (const one of all) {
  const { name, reference, row } = one
  const rule = rules[row]
  const title = `${name}: ${reference.name}`
  if (rule === 'part' || rule === 'organization') {
    const [stranger, whose] = rule === 'part' ? [sibling, 'environment'] : [b.objects, 'organization']
    test(`${title} of another ${whose} is unknown`, async () => {
      const before = await platform.fingerprint()
      const answer = await ask(a.tokens.ADMIN, one, idFor(one, stranger))
      assert.equal(answer.status, 404, answer.text)
      assert.deepEqual(await platform.fingerprint(), before)
    })
  }
  if (rule === 'place') {
    test(`${title} needs a permission there`, async () => {
      const before = await platform.fingerprint()
      const answer = await ask(manager, one, idFor(one, sibling))
      assert.equal(answer.status, 403, answer.text)
      assert.deepEqual(await platform.fingerprint(), before)
    })
  }
  if (rule === 'filter') {
    test(`${title} of another organization is answered like an unknown one`, async () => {
      const [foreign, unknown] = [
        await ask(a.tokens.ADMIN, one, idFor(one, b.objects)),
        await ask(a.tokens.ADMIN, one, newId()),
      ]
      const [first, second] = [foreign, unknown].map(({ status, text }) => [
        status,
        text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, ''),
      ])
      assert.deepEqual(first, second)
    })
  }
  if (rule === 'refused') {
    test(`${title} is refused`, async () => {
      const before = await platform.fingerprint()
      assert.ok([400, 404].includes((await ask(a.tokens.ADMIN, one, newId())).status))
      assert.deepEqual(await platform.fingerprint(), before)
    })
  }
}

import type { Sql } from '../database/index.ts'
import { newId } from '../lib/id.ts'
import { SealError } from '../lib/seal.ts'
import { Secret } from '../lib/secret.ts'
import { eventPolicyOf, type ServiceRow, tagsOf } from '../services/index.ts'
import { loadResolved } from '../variables/index.ts'
import type { Vault } from '../vault/index.ts'
import { basicAuthOf } from './basic-auth.ts'
import { ownVariables } from './database-variables.ts'
import { findRelease, insertRelease, type PlainVariables, type ReleaseRow } from './release-store.ts'
import { stackVariables } from './stack-variables.ts'
import type { Versioned } from './versioned.ts'

const cell = (release: string) => ({ table: 'release', row: release, column: 'sealed_variables' })

/** The variables and files of a version, with secrets kept separate. */
interface Given {
  readonly configVersion: number
  readonly plain: PlainVariables
  readonly secret: PlainVariables
}

/** Returns the variables and files that a deployment of the service would use now. */
export async function givenNow(
  sql: Sql,
  vault: Vault,
  service: ServiceRow,
  deployment: { readonly id: string; readonly commit: ReleaseRow['commit'] },
): Promise<Given> {
  const {
    id: serviceId,
    environment_id: environmentId,
    project_id: projectId,
    organization_id: organizationId,
  } = service
  const scope = { serviceId, environmentId, projectId, organizationId }
  const { id, commit } = deployment
  const resolved = await loadResolved(sql, vault, scope, { id, ...(commit && { commit: commit.id }) })
  if (!resolved) throw new Error(`service ${service.id} is gone`)
  const plain: Writable = { variables: {}, files: [] }
  const secret: Writable = { variables: {}, files: [] }
  const own = (await ownVariables(sql, vault, service)) ?? resolved.variables
  for (const [key, { value }] of own) put(value instanceof Secret ? secret : plain, key, reveal(value))
  for (const [key, value] of await stackVariables(sql, vault, service)) {
    put(value instanceof Secret ? secret : plain, key, reveal(value))
  }
  for (const { path, content } of resolved.files) {
    const side = content instanceof Secret ? secret : plain
    side.files.push({ path, content: reveal(content) })
  }
  return { configVersion: resolved.configVersion, plain, secret }
}

/**
 * Stores everything that a version consists of: its settings, commit, variables and secrets at this
 * moment.
 */
export async function freeze(
  sql: Sql,
  vault: Vault,
  service: ServiceRow,
  request: { readonly id: string; readonly commit: ReleaseRow['commit']; readonly now: Date },
): Promise<ReleaseRow> {
  const [{ configVersion, plain, secret }, tags, event_scaling] = await Promise.all([
    givenNow(sql, vault, service, request),
    tagsOf(sql, 'service', service.id),
    eventPolicyOf(sql, service.id),
  ])
  const id = newId()
  const anySecret = Object.keys(secret.variables).length + secret.files.length > 0
  const sealed = () => vault.seal(sql, service.organization_id, cell(id), JSON.stringify(secret))
  const row: ReleaseRow = {
    id,
    service_id: service.id,
    request_id: request.id,
    created_at: request.now,
    copy_of: null,
    config_version: configVersion,
    ...versionedOf(service),
    advanced_settings: service.advanced_settings,
    public_port: null,
    ...tags,
    event_scaling,
    commit: request.commit,
    image: null,
    basic_auth: await basicAuthOf(service, { plain, secret }),
    variables: plain,
    sealed_variables: anySecret ? await sealed() : null,
  }
  await insertRelease(sql, row)
  return row
}

/** Returns kind and settings of a service as one value, so the kind determines the type. */
export const versionedOf = ({ kind, settings }: ServiceRow): Versioned =>
  // Both are from the same row.
  ({ kind, settings }) as Versioned

interface Writable {
  variables: Record<string, string>
  files: { path: string; content: string }[]
}

const reveal = (value: string | Secret): string => (value instanceof Secret ? value.reveal() : value)

/** Sets a variable. Defines instead of assigning, because its name may be `constructor`. */
function put(side: Writable, key: string, value: string): void {
  Object.defineProperty(side.variables, key, { value, enumerable: true, writable: true, configurable: true })
}

/** Copies a release for another request, which starts the same version again. */
export async function copyRelease(
  sql: Sql,
  vault: Vault,
  organizationId: string,
  release: ReleaseRow,
  request: { readonly id: string; readonly now: Date; readonly configVersion?: number },
): Promise<ReleaseRow> {
  const id = newId()
  const sealed = release.sealed_variables
  const secrets = sealed ? await vault.open(sql, organizationId, cell(release.id), sealed) : undefined
  const row = {
    ...release,
    id,
    request_id: request.id,
    created_at: request.now,
    copy_of: release.copy_of ?? release.id,
    config_version: request.configVersion ?? release.config_version,
    sealed_variables: secrets ? await vault.seal(sql, organizationId, cell(id), secrets.reveal()) : null,
  }
  await insertRelease(sql, row)
  return row
}

/** Returns the variables and files of a release as its workload gets them. */
export async function openVariables(database: Sql, vault: Vault, organizationId: string, release: ReleaseRow) {
  const sealed = release.sealed_variables
  const text = sealed
    ? (await openText(database, vault, organizationId, { id: release.id, sealed })).reveal()
    : undefined
  // The value was written by `freeze` and sealed since.
  const secret: PlainVariables = text ? (JSON.parse(text) as PlainVariables) : { variables: {}, files: [] }
  return together(release.variables, secret)
}

/**
 * Opens sealed variables. A deployment may have read its release long ago. If it was sealed again
 * since and the previous key is gone, it is read again.
 */
async function openText(
  database: Sql,
  vault: Vault,
  organizationId: string,
  { id, sealed }: { readonly id: string; readonly sealed: string },
): Promise<Secret> {
  try {
    return await vault.open(database, organizationId, cell(id), sealed)
  } catch (error) {
    if (!(error instanceof SealError) || error.reason !== 'other-key') throw error
    const present = (await findRelease(database, id))?.sealed_variables
    if (!present || present === sealed) throw error
    return vault.open(database, organizationId, cell(id), present)
  }
}

/** Pure: joins plain and secret variables and files as a workload gets them. */
export function together(plain: PlainVariables, secret: PlainVariables) {
  const hidden = Object.entries(secret.variables).map(([key, value]) => [key, new Secret(value)] as const)
  const hiddenFiles = secret.files.map(({ path, content }) => ({ path, content: new Secret(content) }))
  return {
    variables: Object.fromEntries<string | Secret>([...Object.entries(plain.variables), ...hidden]),
    files: [...plain.files, ...hiddenFiles],
    secrets: [...hidden.map(([, value]) => value), ...hiddenFiles.map(({ content }) => content)],
    secretVariables: new Map(hidden),
  }
}

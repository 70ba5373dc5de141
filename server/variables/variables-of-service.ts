import type { Sql } from '../database/index.ts'
import { SealError } from '../lib/seal.ts'
import type { Secret } from '../lib/secret.ts'
import type { Vault } from '../vault/index.ts'
import { type BuiltInFacts, builtInsOf } from './built-ins.ts'
import { findSnapshot, type Snapshot, type StoredDefinition } from './facts-store.ts'
import { ResolveError } from './interpolate.ts'
import { type Definition, type Resolved, resolve } from './resolve.ts'
import type { ServiceScope } from './scope.ts'
import { sealedCellsOf, toServiceFacts } from './stored-service.ts'

export interface ServiceVariables extends Resolved {
  /** The service's `config_version` at the moment when the variables were read. */
  readonly configVersion: number
}

/** The facts of an upcoming deployment that built-in variables describe. */
export interface Deployment {
  readonly id: string
  readonly commit?: string
}

/**
 * Returns the variables for the workload of a deployment, or undefined if the service no longer
 * exists. Throws ResolveError, which names the variable, and AppError `sealed` if there are secrets
 * and the vault is sealed.
 */
export async function loadResolved(
  sql: Sql,
  vault: Vault,
  service: Pick<ServiceScope, 'serviceId' | 'environmentId' | 'projectId' | 'organizationId'>,
  deployment?: Deployment,
): Promise<ServiceVariables | undefined> {
  const snapshot = await findSnapshot(sql, service)
  if (!snapshot) return undefined
  const { configVersion } = snapshot
  const facts = await openFacts(sql, vault, service.organizationId, snapshot)
  const told = facts.service && { ...facts.service, ...deploymentFacts(deployment) }
  const builtIns = builtInsOf(told ? { ...facts, service: told } : facts)
  const definitions: Definition[] = []
  for (const stored of snapshot.definitions) {
    const { value, sealed_value } = stored
    const text =
      sealed_value === null ? value : await openText(sql, vault, service.organizationId, stored, sealed_value)
    definitions.push(toDefinition(stored, text ?? undefined))
  }
  return { ...resolve(definitions, builtIns), configVersion }
}

/** Adds the secret texts of databases and outputs to the facts. */
async function openFacts(sql: Sql, vault: Vault, organizationId: string, snapshot: Snapshot): Promise<BuiltInFacts> {
  const { facts, services } = snapshot
  const cells = services.flatMap(sealedCellsOf)
  if (cells.length === 0 || !facts.environment) return facts
  const texts = new Map<string, Secret>()
  for (const { text, ...cell } of cells) texts.set(text, await vault.open(sql, organizationId, cell, text))
  const opened = services.map((one) => toServiceFacts(one, (sealed) => texts.get(sealed)))
  return { ...facts, environment: { ...facts.environment, services: opened } }
}

const deploymentFacts = (deployment: Deployment | undefined) => ({
  ...(deployment && { deployment: deployment.id }),
  ...(deployment?.commit !== undefined && { commit: deployment.commit }),
})

const toDefinition = (stored: StoredDefinition, text: Definition['text']): Definition => ({
  id: stored.id,
  scope: stored.scope ?? 'SERVICE',
  key: stored.key,
  type: stored.type ?? 'VALUE',
  text,
  mountPath: stored.mount_path ?? undefined,
  interpolatesFile: stored.interpolates_file ?? false,
  baseId: stored.base_id ?? undefined,
})

async function openText(
  sql: Sql,
  vault: Vault,
  organizationId: string,
  stored: StoredDefinition,
  sealed: string,
): Promise<Secret> {
  try {
    const cell = { table: 'variable', row: stored.id, column: 'sealed_value' }
    return await vault.open(sql, organizationId, cell, sealed)
  } catch (cause) {
    if (!(cause instanceof SealError)) throw cause
    const message =
      `The secret ${stored.key} cannot be read: its stored text is damaged or belongs to another row. Set its ` +
      'value again.'
    throw new ResolveError('unreadable', stored.key, message, { cause })
  }
}

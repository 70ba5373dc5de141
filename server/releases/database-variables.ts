import { type DatabaseType, databaseTable } from '@quayside/contract/services/database.ts'
import type { Sql } from '../database/index.ts'
import type { Secret } from '../lib/secret.ts'
import { formerPasswordName, openSecrets, passwordName, type ServiceRow } from '../services/index.ts'
import type { Vault } from '../vault/index.ts'
import { formerPasswordVariable } from './exchange-password.ts'

/** The variables by which each official image creates the owner, by type. */
const variables: Record<
  DatabaseType,
  (login: string, password: Secret, name: string) => Record<string, string | Secret>
> = {
  POSTGRESQL: (login, password, name) => ({ POSTGRES_USER: login, POSTGRES_PASSWORD: password, POSTGRES_DB: name }),
  MYSQL: (_login, password) => ({ MYSQL_ROOT_PASSWORD: password }),
  MONGODB: (login, password) => ({ MONGO_INITDB_ROOT_USERNAME: login, MONGO_INITDB_ROOT_PASSWORD: password }),
  REDIS: (_login, password) => ({ REDIS_PASSWORD: password }),
}

/**
 * Returns the variables of a database: only its own credentials. Undefined for other services,
 * which get the variables of their scopes.
 */
export async function ownVariables(
  sql: Sql,
  vault: Vault,
  service: ServiceRow,
): Promise<ReadonlyMap<string, { readonly value: string | Secret }> | undefined> {
  if (service.kind !== 'database') return undefined
  const { id, organization_id: organizationId, settings } = service
  const secrets = await openSecrets(sql, vault, { id, organizationId })
  const [password, former] = [secrets.get(passwordName), secrets.get(formerPasswordName)]
  if (!password) throw new Error(`database ${id} has no password`)
  const { login, databaseName } = databaseTable[settings.type]
  const own = variables[settings.type](login, password, databaseName)
  const given = former ? { ...own, [formerPasswordVariable]: former } : own
  return new Map(Object.entries(given).map(([key, value]) => [key, { value }]))
}

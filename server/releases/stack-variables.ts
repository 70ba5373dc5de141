import type { Sql } from '../database/index.ts'
import type { Secret } from '../lib/secret.ts'
import { openSecrets, type ServiceRow, stackSecretName } from '../services/index.ts'
import type { Vault } from '../vault/index.ts'

/**
 * Returns the variables by which a stack gets the values of its `tf_vars`. Other kinds have none. A
 * secret without a stored value is left out, so the engine reports it as missing.
 */
export async function stackVariables(
  sql: Sql,
  vault: Pick<Vault, 'seal' | 'open'>,
  service: ServiceRow,
): Promise<ReadonlyMap<string, string | Secret>> {
  if (service.kind !== 'terraform') return new Map()
  const { tf_vars } = service.settings.terraform_variables_source
  const { id, organization_id: organizationId } = service
  const secrets = tf_vars.some(({ secret }) => secret)
    ? await openSecrets(sql, vault, { id, organizationId })
    : new Map<string, Secret>()
  return new Map(
    tf_vars.flatMap(({ key, value, secret }): [string, string | Secret][] => {
      const given = secret ? secrets.get(stackSecretName(key)) : value
      return given === undefined ? [] : [[`TF_VAR_${key}`, given]]
    }),
  )
}

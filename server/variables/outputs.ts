import type { Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import type { Vault } from '../vault/index.ts'
import { checkDescription, checkValue } from './names.ts'
import { deleteOthers, findOutputs, outdateOthers, type StoredOutput, saveOutput } from './output-store.ts'
import type { ServiceScope } from './scope.ts'

/** A value that a job or a Terraform stack passes to the services of its environment. */
export interface ServiceOutput {
  readonly key: string
  readonly value: string
  readonly isSecret: boolean
  readonly description?: string
}

const form = /^[A-Za-z0-9_]{1,200}$/
const most = 1000

/**
 * Replaces the outputs of the service in the caller's transaction. They are built-in variables of
 * every service of its environment. If one changed, those services are marked as out of date.
 * Throws AppError `invalid`, which names the output, and `sealed` if one is secret and the vault is
 * sealed.
 */
export async function setServiceOutputs(
  sql: Sql,
  { vault, clock }: { readonly vault: Vault; readonly clock: Clock },
  service: Pick<ServiceScope, 'serviceId' | 'environmentId' | 'organizationId'>,
  outputs: readonly ServiceOutput[],
): Promise<void> {
  check(outputs)
  const { serviceId, organizationId } = service
  const former = new Map((await findOutputs(sql, serviceId)).map((output) => [output.key, output]))
  const keys = new Set(outputs.map(({ key }) => key))
  let isChanged = [...former.keys()].some((key) => !keys.has(key))
  if (isChanged) await deleteOthers(sql, serviceId, [...keys])
  for (const output of outputs) {
    const found = former.get(output.key)
    if (found && (await isSame(sql, vault, organizationId, found, output))) continue
    isChanged = true
    const id = found?.id ?? newId()
    const { key, value, isSecret, description = '' } = output
    const sealed = isSecret ? await vault.seal(sql, organizationId, cellOf(id), value) : null
    const texts = { value: isSecret ? null : value, sealed_value: sealed }
    await saveOutput(sql, { id, service_id: serviceId, key, description, is_secret: isSecret, ...texts }, clock.now())
  }
  if (isChanged) await outdateOthers(sql, service.environmentId, serviceId)
}

const cellOf = (id: string) => ({ table: 'service_output', row: id, column: 'sealed_value' })

function check(outputs: readonly ServiceOutput[]): void {
  if (outputs.length > most)
    throw new AppError('invalid', `At most ${most} outputs can be stored, but there are ${outputs.length}.`)
  for (const { key, value, description } of outputs) {
    if (!form.test(key))
      throw new AppError(
        'invalid',
        `The output "${key.slice(0, 50)}" needs a name of 1 to 200 letters, digits and underscores.`,
      )
    try {
      checkValue(value)
      checkDescription(description ?? '')
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      throw new AppError('invalid', `The output ${key} cannot be stored: ${error.message}`)
    }
  }
}

async function isSame(
  sql: Sql,
  vault: Vault,
  organizationId: string,
  stored: StoredOutput,
  { value, isSecret, description = '' }: ServiceOutput,
): Promise<boolean> {
  if (stored.is_secret !== isSecret || stored.description !== description) return false
  if (stored.sealed_value === null) return stored.value === value
  return (await vault.open(sql, organizationId, cellOf(stored.id), stored.sealed_value)).reveal() === value
}

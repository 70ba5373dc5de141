import type { Sql } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import { repeatedLogin } from './basic-auth.ts'
import { hasLoginsFrom, type VariablePlace } from './login-variable-store.ts'

/**
 * Throws `invalid` if the new value of a variable has a login twice and a service within the scope
 * takes the router's logins from it. Deployments check it again, with the value that they use.
 */
export async function checkLogins(
  sql: Sql,
  place: VariablePlace,
  { key, value }: { readonly key: string; readonly value?: string | null | undefined },
): Promise<void> {
  const why = typeof value === 'string' ? repeatedLogin(value) : undefined
  if (why === undefined || !(await hasLoginsFrom(sql, place, key))) return
  throw new AppError('invalid', `value: the router takes logins from ${key}, which ${why}. Name each login once.`)
}

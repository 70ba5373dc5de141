import type { BasicCredential } from '@quayside/contract/routes.ts'
import { settingsOfKind } from '@quayside/contract/services/advanced-settings.ts'
import type { SettingValues } from '@quayside/contract/services/setting-table.ts'
import { credentialsOf } from '../domains/index.ts'
import { AppError } from '../lib/error.ts'
import type { PlainVariables, ReleaseRow } from './release-store.ts'

/** The advanced setting that names the variable with the router's logins. */
export const basicAuthSetting = 'network.ingress.basic_auth_env_var'

interface Service {
  readonly kind: string
  readonly organization_id: string
  readonly advanced_settings: SettingValues
}

/**
 * Returns the name of the variable in the current settings. Empty if the router requires no
 * password.
 */
export function wantedPasswordsIn({ kind, advanced_settings }: Omit<Service, 'organization_id'>): string {
  const name = basicAuthSetting in settingsOfKind(kind) ? advanced_settings[basicAuthSetting] : undefined
  return typeof name === 'string' ? name : ''
}

/**
 * Returns the logins of a version from its variables; null if everybody has access. Throws
 * `invalid` without any part of the value.
 */
export async function basicAuthOf(
  service: Service,
  given: { readonly plain: PlainVariables; readonly secret: PlainVariables },
): Promise<readonly BasicCredential[] | null> {
  const name = wantedPasswordsIn(service)
  if (name === '') return null
  const side = [given.secret.variables, given.plain.variables].find((variables) => Object.hasOwn(variables, name))
  const again = `Change the variable, or clear the setting, and deploy again.`
  if (!side) throw new AppError('invalid', `${basicAuthSetting}: there is no variable ${name}. ${again}`)
  try {
    return await credentialsOf(side[name] ?? '', service.organization_id)
  } catch (error) {
    const why = error instanceof Error ? error.message : 'cannot be read'
    throw new AppError('invalid', `${basicAuthSetting}: the variable ${name} ${why}. ${again}`)
  }
}

/**
 * Returns the variable with a version's logins, for comparison. A release without logins whose
 * settings name a variable is from before this setting had an effect.
 */
export const passwordsIn = (release: Pick<ReleaseRow, 'advanced_settings' | 'basic_auth'>): string =>
  release.basic_auth === null ? '' : String(release.advanced_settings[basicAuthSetting] ?? '')

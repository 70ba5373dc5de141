import type { BasicCredential } from '@quayside/contract/routes.ts'
import { settingsOfKind } from '@quayside/contract/services/advanced-settings.ts'
import type { SettingValues } from '@quayside/contract/services/setting-table.ts'
import { credentialsOf } from '../domains/index.ts'
import { AppError } from '../lib/error.ts'
import type { PlainVariables, ReleaseRow } from './release-store.ts'

/** The advanced setting that names the variable with who is let in by the router. */
export const basicAuthSetting = 'network.ingress.basic_auth_env_var'

interface Service {
  readonly kind: string
  readonly advanced_settings: SettingValues
}

/**
 * The name of the variable by the settings of this moment; empty where the router shall ask for no
 * password.
 */
export function wantedPasswordsIn({ kind, advanced_settings }: Service): string {
  const name = basicAuthSetting in settingsOfKind(kind) ? advanced_settings[basicAuthSetting] : undefined
  return typeof name === 'string' ? name : ''
}

/**
 * Whom the router lets in, by the variables of a version; null: everybody. Throws `invalid`,
 * without anything of the value.
 */
export function basicAuthOf(
  service: Service,
  given: { readonly plain: PlainVariables; readonly secret: PlainVariables },
): readonly BasicCredential[] | null {
  const name = wantedPasswordsIn(service)
  if (name === '') return null
  const side = [given.secret.variables, given.plain.variables].find((variables) => Object.hasOwn(variables, name))
  const again = `Change the variable, or empty the setting, and deploy again.`
  if (!side) throw new AppError('invalid', `${basicAuthSetting}: there is no variable ${name}. ${again}`)
  try {
    return credentialsOf(side[name] ?? '')
  } catch (error) {
    const why = error instanceof Error ? error.message : 'cannot be read'
    throw new AppError('invalid', `${basicAuthSetting}: the variable ${name} ${why}. ${again}`)
  }
}

/**
 * What a version asks passwords by, to be compared. One that asks for none although its settings
 * say so was made before that acted.
 */
export const passwordsIn = (release: Pick<ReleaseRow, 'advanced_settings' | 'basic_auth'>): string =>
  release.basic_auth === null ? '' : String(release.advanced_settings[basicAuthSetting] ?? '')

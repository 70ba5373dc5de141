import { isSecretField, type RegistryKind, type SecretField } from '@quayside/contract/registries.ts'
import type { AddressGuard } from '../lib/address.ts'
import { AppError } from '../lib/error.ts'
import { targetProblem } from '../lib/target.ts'
import { checkName } from '../lib/text.ts'
import { withoutEnd } from '../lib/trim.ts'
import type { RegistryRow, RegistryValues } from './registry-store.ts'

export type Config = Readonly<Record<string, string | number | null | undefined>>

export interface RegistryRequest {
  readonly name: string
  readonly kind: string
  readonly description?: string | null
  readonly url?: string | null
  readonly skip_tls_verification?: boolean
  readonly config: Config
}

/** The opened secrets of a configuration. */
export type Secrets = Readonly<Partial<Record<SecretField, string>>>
export type Kinds = Readonly<Record<string, RegistryKind>>

/** The secrets of a request: those to store, and those to clear. Empty ones count as absent. */
export function splitSecrets(config: Config): { readonly kept: Secrets; readonly cleared: readonly string[] } {
  const given = Object.entries(config).filter(([name]) => isSecretField(name))
  const kept = Object.fromEntries(given.filter(([, value]) => typeof value === 'string' && value !== ''))
  return { kept, cleared: given.filter(([, value]) => value === null).map(([name]) => name) }
}

/**
 * Rejects a change that would send a stored secret to another host, or to the same host without
 * the verification of its certificate.
 */
export function mergeSecrets(
  before: RegistryRow & Pick<RegistryValues, 'skip_tls_verification'>,
  after: Pick<RegistryValues, 'kind' | 'url' | 'skip_tls_verification'>,
  stored: Secrets,
  { kept, cleared }: ReturnType<typeof splitSecrets>,
): Secrets {
  const staying = Object.entries(stored).filter(([name]) => !(name in kept) && !cleared.includes(name))
  const isSame = before.kind === after.kind && originOf(before.url) === originOf(after.url)
  const [lost] = staying
  if (lost && !isSame) {
    throw new AppError(
      'invalid',
      `config.${lost[0]} must be sent again when kind or host change, or be null: it was stored for "${before.url}".`,
    )
  }
  if (lost && after.skip_tls_verification && !before.skip_tls_verification) {
    throw new AppError('invalid', `config.${lost[0]} must be sent again, or be null, to skip the verification of TLS.`)
  }
  return { ...Object.fromEntries(staying), ...kept }
}

const originOf = (url: string): string | undefined => URL.parse(url.replace(/^oci:/, 'https:'))?.origin

export function requireConfig({ kind }: RegistryRequest, kinds: Kinds, config: Config): void {
  const missing = kinds[kind]?.required.find((field) => !config[field])
  if (missing) throw new AppError('invalid', `config.${missing} is required for ${kind}.`)
}

export function checked(
  body: RegistryRequest,
  kinds: Kinds,
  guard: AddressGuard,
): Omit<RegistryValues, 'sealed_config'> {
  const { kind, config: given } = body
  const plain = Object.entries(given).filter(([name]) => !isSecretField(name))
  const set = plain.flatMap(([name, value]) =>
    value === undefined || value === null || value === '' ? [] : [[name, value]],
  )
  const config: Record<string, string | number> = Object.fromEntries(set)
  return {
    name: checkName('name', body.name),
    description: body.description ?? '',
    kind,
    url: checkedUrl(body, kinds[kind]?.url, config, guard),
    config,
    ...(body.skip_tls_verification === undefined ? {} : { skip_tls_verification: body.skip_tls_verification }),
  }
}

function checkedUrl(
  { kind, url: given }: RegistryRequest,
  standard: string | undefined,
  config: Config,
  guard: AddressGuard,
) {
  const region = String(config['region'] ?? '')
  if (region !== '' && !/^[a-z0-9-]{1,63}$/.test(region)) {
    throw new AppError('invalid', 'config.region must be lower-case letters, digits and "-".')
  }
  const text = given || standard?.replace('<region>', region)
  if (!text) throw new AppError('invalid', `url is required for ${kind}.`)
  if (kind.startsWith('OCI_') ? !/^(?:oci|https?):\/\//.test(text) : !/^https?:\/\//.test(text)) {
    throw new AppError('invalid', `url must begin with ${kind.startsWith('OCI_') ? 'oci:// or ' : ''}https://.`)
  }
  const url = URL.parse(text.replace(/^oci:/, 'https:'))
  const problem = url ? targetProblem(guard, url) : 'The address is not a valid URL.'
  if (problem) throw new AppError('invalid', `url: ${problem}`)
  if (url?.search || url?.hash) throw new AppError('invalid', 'url must not contain "?" or "#".')
  return withoutEnd(text, '/')
}

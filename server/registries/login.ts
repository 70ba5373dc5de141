import { basicAuthorization } from '../lib/challenge.ts'
import { AppError } from '../lib/error.ts'
import type { Secrets } from './registry-request.ts'
import type { RegistryRow } from './registry-store.ts'

/** A registry or repository with its secrets open: what is asked, and as whom. */
export interface Opened {
  readonly kind: string
  readonly name: string
  readonly url: string
  readonly config: RegistryRow['config']
  readonly secrets: Secrets
  readonly skip_tls_verification?: boolean
}

export interface Login {
  readonly username: string
  readonly password: string
}

/**
 * The user name and password that a kind is entered with; undefined for those that are asked without. Throws AppError
 * `invalid` where keys would first have to be exchanged with a cloud for a password.
 */
export function loginOf({ kind, name, config, secrets }: Opened): Login | undefined {
  const username = String(config['username'] ?? '')
  if (username !== '' && secrets.password) return { username, password: secrets.password }
  if (secrets.scaleway_secret_key) return { username: 'nologin', password: secrets.scaleway_secret_key }
  if (secrets.json_credentials) return { username: '_json_key', password: secrets.json_credentials }
  const isCloud = /(?:^|_)(?:ECR|GCP_ARTIFACT_REGISTRY|AZURE_CR)$/.test(kind) && !/PUBLIC_ECR$/.test(kind)
  if (!isCloud) return undefined
  throw new AppError(
    'invalid',
    `"${name}" is entered with keys of a cloud, which are not exchanged for a password here. Set username and password in its configuration to have it read.`,
  )
}

export const basic = ({ username, password }: Login): string => basicAuthorization(username, password)

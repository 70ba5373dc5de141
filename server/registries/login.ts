import { basicAuthorization } from '../lib/challenge.ts'
import { AppError } from '../lib/error.ts'
import type { Secrets } from './registry-request.ts'
import type { RegistryRow } from './registry-store.ts'

/** A registry or repository with its secrets opened: address and credentials. */
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
 * Returns the user name and password of a kind, or undefined for anonymous access. Throws AppError
 * `invalid` if cloud keys would have to be exchanged for a password first.
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
    `"${name}" uses keys of a cloud, which cannot be exchanged for a password here. Set username and ` +
      'password in its configuration.',
  )
}

export const basic = ({ username, password }: Login): string => basicAuthorization(username, password)

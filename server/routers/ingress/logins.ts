import type { BasicCredential } from '@quayside/contract/routes.ts'
import type { KubeObject } from './kube-objects.ts'

/**
 * Returns a Secret with logins as htpasswd writes them, for Traefik. Undefined if it cannot check
 * one of the hashes: it knows `$apr1$` but not the platform's own form.
 */
export function loginsSecret(
  logins: readonly BasicCredential[],
  metadata: KubeObject['metadata'],
): KubeObject | undefined {
  if (!logins.every(({ hash }) => hash.startsWith('$apr1$'))) return undefined
  const text = logins.map(({ login, hash }) => `${login}:${hash}\n`).join('')
  const data = { users: Buffer.from(text).toString('base64') }
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data }
  return secret
}

export const plainLogins =
  'an ingress controller checks only passwords that `htpasswd -nm` has hashed; store them in that form'

import { resolve } from 'node:path'
import { permissions } from '@quayside/contract/operation.ts'
import type { Issuer, IssuerSignIn } from './access/index.ts'
import { ConfigError } from './config-forms.ts'

/** A JSON list of {issuer, audience, jwksUrl, algorithms, members, signIn}. See docs/operate.md. */
export function issuers(text: string | undefined): Issuer[] {
  if (!text) return []
  try {
    const value: unknown = JSON.parse(text)
    if (!Array.isArray(value)) throw new Error('it is not a list')
    return value.map(toIssuer)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new ConfigError(`QUAYSIDE_OIDC_ISSUERS must be a JSON list of issuers: ${why}.`, { cause: error })
  }
}

const safeAlgorithms = ['RS256', 'PS256', 'ES256', 'EdDSA']

function toIssuer(value: unknown): Issuer {
  const fields = typeof value === 'object' && value !== null ? Object.entries(value) : []
  const { issuer, audience, jwksUrl, algorithms = ['RS256'], members = {}, signIn } = Object.fromEntries(fields)
  for (const text of [issuer, audience, jwksUrl]) {
    if (typeof text !== 'string' || text === '') throw new Error('each needs issuer, audience and jwksUrl')
  }
  if (!Array.isArray(algorithms) || !algorithms.every((name) => safeAlgorithms.includes(name))) {
    throw new Error(`algorithms must be among ${safeAlgorithms.join(', ')}`)
  }
  const accepted = { issuer, audience, jwksUrl, algorithms, members: toMembers(members) }
  return signIn === undefined ? accepted : { ...accepted, signIn: toSignIn(issuer, signIn) }
}

/** Passwords of people and codes pass through these addresses. */
const safeIssuer = /^https:\/\/|^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/]|$)/

/** `{"name": "Example", "clientId": "…", "clientSecretFile": "/…"}`. */
function toSignIn(issuer: string, value: unknown): IssuerSignIn {
  const { clientId, name = URL.parse(issuer)?.host, clientSecretFile } = Object(value)
  if (typeof clientId !== 'string' || clientId === '') throw new Error('signIn needs a clientId')
  if (typeof name !== 'string' || name === '' || name.length > 60) {
    throw new Error('signIn: name must be a string of 1 to 60 characters')
  }
  if (!safeIssuer.test(issuer)) throw new Error(`signIn: ${issuer} must begin with https://, except on this machine`)
  if (clientSecretFile === undefined) return { clientId, name }
  if (typeof clientSecretFile !== 'string' || clientSecretFile === '') {
    throw new Error('signIn: clientSecretFile must be the path of a file')
  }
  return { clientId, name, clientSecretFile: resolve(clientSecretFile) }
}

/** `{"<subject>": ["ADMIN"]}`. */
function toMembers(value: unknown): Issuer['members'] {
  if (typeof value !== 'object' || value === null) throw new Error('members must be an object')
  const entries = Object.entries(value).map(([subject, given]) => {
    const granted = permissions.filter((permission) => Array.isArray(given) && given.includes(permission))
    if (!Array.isArray(given) || granted.length !== given.length || granted.length === 0) {
      throw new Error(`members: ${subject} needs a list of ${permissions.join(', ')}`)
    }
    return [subject, granted] as const
  })
  return Object.fromEntries(entries)
}

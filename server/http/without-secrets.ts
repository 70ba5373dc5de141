import type { Json } from '../lib/json.ts'

/**
 * Matches names of fields whose strings are secrets, such as the token of a new API token. Their
 * ids and names are not secrets.
 */
const secretName =
  /^(?:.*_)?(?:token|password|passphrase|secret|secret_?(?:access_)?key|private_?key|signing_?key|kubeconfig|credentials?_json|invitation_link)$/i

/** Returns a record for the audit log, without the strings of secret fields. */
export function withoutSecrets(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.map((one) => withoutSecrets(one) ?? null)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([name, of]) => typeof of !== 'string' || !secretName.test(name))
  return Object.fromEntries(kept.map(([name, of]) => [name, withoutSecrets(of)]))
}

const longest = 65_536

/** Returns a record as text. A record that is too long is reduced to its id and name. */
export function changeText(record: Json | undefined): string {
  const text = JSON.stringify(withoutSecrets(record) ?? {})
  if (text.length <= longest) return text
  const { id = null, name = null } = Object(record)
  return JSON.stringify({ id, name, omitted: `${text.length} characters` })
}

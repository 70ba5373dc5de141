import type { Json } from '../lib/json.ts'

/**
 * Names of fields whose texts are secrets: the token of a new API token, say. Ids and names of such
 * things are none.
 */
const secretName =
  /^(?:.*_)?(?:token|password|passphrase|secret|secret_?(?:access_)?key|private_?key|signing_?key|kubeconfig|credentials?_json)$/i

/** A record as the record of changes keeps it: without the texts that are secrets. */
export function withoutSecrets(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.map((one) => withoutSecrets(one) ?? null)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([name, of]) => typeof of !== 'string' || !secretName.test(name))
  return Object.fromEntries(kept.map(([name, of]) => [name, withoutSecrets(of)]))
}

const longest = 65_536

/** A record as text; of what is too long only what says which one it is. */
export function changeText(record: Json | undefined): string {
  const text = JSON.stringify(withoutSecrets(record) ?? {})
  if (text.length <= longest) return text
  const { id = null, name = null } = Object(record)
  return JSON.stringify({ id, name, omitted: `${text.length} characters` })
}

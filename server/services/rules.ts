import { AppError } from '../lib/error.ts'
import { checkName } from '../lib/text.ts'
import type { AnnotationScope, GroupEntry, GroupKind, GroupValues } from './group-store.ts'

/** A group as sent. Annotations have scopes, labels do not. */
export interface GroupRequest {
  readonly name: string
  readonly entries: readonly GroupEntry[]
  readonly scopes: readonly AnnotationScope[]
}

/**
 * `<prefix>/<name>` as orchestrators accept it: the prefix is a DNS name, the name has at most 63
 * characters.
 */
const nameForm = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/
const prefixForm = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/i
const labelValueForm = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/
const control = /\p{Cc}/u

/** Words that engines, routers and this platform interpret themselves. */
const reservedLabels =
  /^(?:quayside|traefik|caddy|com\.docker|io\.docker|org\.mobyproject|io\.kubernetes)(?=[._/-]|$)|^caddy/i
/** Annotations that configure a proxy, redirect requests or change a load balancer of the cloud. */
const dangerousAnnotations =
  /snippet|lua|modsecurity|auth-url|auth-signin|mirror-|^service\.(?:beta|alpha)\.kubernetes\.io\//i

/** Pure: returns the group as stored. Throws 400 that names the field. */
export function checkGroup(kind: GroupKind, { name, entries, scopes }: GroupRequest): GroupValues {
  const repeated = scopes.findIndex((scope, index) => scopes.indexOf(scope) !== index)
  if (repeated !== -1) refuse(`scopes[${repeated}]`, 'is used twice')
  for (const [index, entry] of entries.entries()) {
    const field = `${kind}[${index}]`
    checkKey(`${field}.key`, kind, entry.key)
    checkValue(`${field}.value`, kind, entry.value)
    if (entries.findIndex(({ key }) => key === entry.key) !== index) refuse(`${field}.key`, 'is used twice')
  }
  return { name: checkName('name', name), entries, scopes }
}

function checkKey(field: string, kind: GroupKind, key: string): void {
  const [prefix, name, ...rest] = key.includes('/') ? key.split('/') : [undefined, key]
  const isPlain = rest.length === 0 && nameForm.test(name ?? '') && (prefix === undefined || prefixForm.test(prefix))
  if (!isPlain)
    refuse(field, 'must be letters, digits, ".", "_" and "-", at most 63, with an optional DNS name and "/" before it')
  if (kind === 'labels' && reservedLabels.test(key))
    refuse(field, 'begins with a prefix that is reserved for the platform')
  if (kind === 'annotations' && dangerousAnnotations.test(key))
    refuse(field, 'is not allowed: it would configure more than the service itself')
}

function checkValue(field: string, kind: GroupKind, value: string): void {
  if (kind === 'labels' && !labelValueForm.test(value)) {
    refuse(field, 'must be letters, digits, ".", "_" and "-", at most 63, or empty')
  }
  if (control.test(value.replace(/[\n\t]/g, ''))) refuse(field, 'must not contain control characters')
}

function refuse(field: string, sentence: string): never {
  throw new AppError('invalid', `${field} ${sentence}.`)
}

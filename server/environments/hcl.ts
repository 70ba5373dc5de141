import { withoutEnds } from '../lib/trim.ts'
/** A value of Terraform's configuration language, as far as the export needs it. */
export type Hcl = string | number | boolean | Expression | readonly Hcl[] | { readonly [name: string]: Hcl | undefined }

/** A reference or other expression, such as `qovery_environment.shop.id`. */
export class Expression {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}
export const reference = (...parts: readonly string[]): Expression => new Expression(parts.join('.'))

/** Returns `resource "type" "label" { … }`. Undefined attributes are left out. */
export function block(
  kind: string,
  labels: readonly string[],
  attributes: Readonly<Record<string, Hcl | undefined>>,
): string {
  const head = [kind, ...labels.map(quote)].join(' ')
  return `${head} {\n${lines(attributes, 1, ' = ')}}\n`
}

function lines(members: Readonly<Record<string, Hcl | undefined>>, depth: number, sign: string): string {
  const indent = '  '.repeat(depth)
  return Object.entries(members)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${indent}${key(name)}${sign}${write(value, depth)}\n`]))
    .join('')
}

function write(value: Hcl, depth: number): string {
  if (typeof value === 'string') return quote(value)
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (value instanceof Expression) return value.text
  const indent = '  '.repeat(depth)
  if (isList(value)) {
    if (value.length === 0) return '[]'
    const items = value.map((item) => `${indent}  ${write(item, depth + 1)},\n`)
    return `[\n${items.join('')}${indent}]`
  }
  const inner = lines(value, depth + 1, ' = ')
  return inner === '' ? '{}' : `{\n${inner}${indent}}`
}

const isList = (value: Hcl): value is readonly Hcl[] => Array.isArray(value)
const key = (name: string): string => (/^[A-Za-z_][\w-]*$/.test(name) ? name : quote(name))

const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '"': '\\"', '\\': '\\\\' }

/** Quotes a string literally: `${…}` and `%{…}` are escaped. */
export const quote = (text: string): string =>
  `"${text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters must be escaped
    .replace(/[\u0000-\u001f"\\\u007f]/g, (character) => escapes[character] ?? unicode(character))
    .replace(/([$%])\{/g, '$1$1{')}"`

const unicode = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Returns a function that makes unique block labels of letters, digits and underscores. */
export function labels(): (name: string) => string {
  const taken = new Set<string>()
  return (name) => {
    const plain = withoutEnds(name.toLowerCase().replace(/[^a-z0-9]+/g, '_'), '_')
    const base = /^[a-z]/.test(plain) ? plain : `_${plain}`
    let label = base
    for (let count = 2; taken.has(label); count++) label = `${base}_${count}`
    taken.add(label)
    return label
  }
}

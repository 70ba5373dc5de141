import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** The answer types that the published client declares, parsed from its declaration file. */
type Type =
  | { readonly is: 'name'; readonly name: string }
  | { readonly is: 'literal'; readonly value: string }
  | { readonly is: 'list'; readonly of: Type }
  | { readonly is: 'any-of' | 'all-of'; readonly types: readonly Type[] }
  | { readonly is: 'object'; readonly fields: readonly Field[] }

interface Field {
  readonly name: string
  readonly isRequired: boolean
  readonly type: Type
}

export interface PublishedTypes {
  /**
   * Lists where the answer of a method violates the client's declaration: a missing required field,
   * or a value outside its enumeration.
   */
  problemsOf(method: string, answer: unknown): string[]
}

export function readPublishedTypes(): PublishedTypes {
  const file = createRequire(import.meta.url).resolve('qovery-typescript-axios/dist/api.d.ts')
  const text = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '')
  const types = new Map<string, Type>()
  for (const [, name = '', parent, body = ''] of text.matchAll(
    /^export interface (\w+)(?: extends (\w+))? (\{[\s\S]*?^\})/gm,
  )) {
    const own = parse(body)
    types.set(name, parent ? { is: 'all-of', types: [{ is: 'name', name: parent }, own] } : own)
  }
  for (const [, name = '', body = ''] of text.matchAll(/^export declare const (\w+): \{([\s\S]*?)^\};/gm)) {
    const values = [...body.matchAll(/: "([^"]*)"/g)].map(([, value = '']): Type => ({ is: 'literal', value }))
    if (values.length > 0) types.set(name, { is: 'any-of', types: values })
  }
  for (const [, name = '', body = ''] of text.matchAll(/^export type (\w+) = ([\s\S]*?);\n(?=export|declare|$)/gm)) {
    if (!types.has(name)) types.set(name, parse(body))
  }
  const answers = new Map(
    [...text.matchAll(/^ {4}(\w+)\(.*\): Promise<import\("axios"\)\.AxiosResponse<(.*), any, \{\}>>;$/gm)].map(
      ([, name = '', type = '']) => [name, parse(type)] as const,
    ),
  )
  return {
    problemsOf: (method, answer) => {
      const type = answers.get(method)
      return type ? problems(answer, type, types, '$') : [`the client has no method ${method}`]
    },
  }
}

/** Lists the problems of a value; for alternatives, those of the best match. */
function problems(value: unknown, type: Type, types: ReadonlyMap<string, Type>, path: string): string[] {
  const below = (member: unknown, of: Type, at: string): string[] => problems(member, of, types, at)
  switch (type.is) {
    case 'literal':
      return value === type.value ? [] : [`${path}: ${JSON.stringify(value)} is not "${type.value}"`]
    case 'list':
      if (!Array.isArray(value)) return [`${path}: is not a list`]
      return value.flatMap((item, index) => below(item, type.of, `${path}[${index}]`))
    case 'all-of':
      return type.types.flatMap((one) => below(value, one, path))
    case 'any-of': {
      if (type.types.every(({ is }) => is === 'literal')) {
        const known = type.types.some((one) => one.is === 'literal' && one.value === value)
        return known ? [] : [`${path}: ${JSON.stringify(value)} is not a known value`]
      }
      const each = type.types.map((one) => below(value, one, path))
      return each.reduce((best, one) => (one.length < best.length ? one : best))
    }
    case 'object':
      if (typeof value !== 'object' || value === null) return [`${path}: is not an object`]
      return type.fields.flatMap(({ name, isRequired, type: of }) => {
        const member: unknown = Reflect.get(value, name)
        if (member === undefined || member === null) {
          return isRequired && !(member === null && allowsNull(of)) ? [`${path}.${name}: is missing`] : []
        }
        return below(member, of, `${path}.${name}`)
      })
    case 'name':
      return ofName(value, type.name, types, path)
  }
}

const allowsNull = (type: Type): boolean =>
  (type.is === 'name' && (type.name === 'null' || type.name === 'any')) ||
  (type.is === 'any-of' && type.types.some(allowsNull))

function ofName(value: unknown, name: string, types: ReadonlyMap<string, Type>, path: string): string[] {
  if (name === 'string' || name === 'number' || name === 'boolean') {
    return typeof value === name ? [] : [`${path}: ${JSON.stringify(value)} is no ${name}`]
  }
  if (name === 'null') return value === null ? [] : [`${path}: is not null`]
  const type = types.get(name)
  return type ? problems(value, type, types, path) : []
}

const token = /'[^']*'|"[^"]*"|\w+|[{}<>|&:;?[\]]/g

/** Parses a type expression: names, literals, lists, objects, alternatives and combinations. */
function parse(text: string): Type {
  const tokens = text.match(token) ?? []
  let at = 0
  const peek = (): string | undefined => tokens[at]
  const take = (expected?: string): string => {
    const found = tokens[at++] ?? ''
    if (expected !== undefined && found !== expected)
      throw new Error(`"${expected}" expected, "${found}" found in ${text}`)
    return found
  }
  const series = (separator: string, is: 'any-of' | 'all-of', next: () => Type): Type => {
    if (peek() === separator) take()
    const types = [next()]
    while (peek() === separator) {
      take()
      types.push(next())
    }
    return types.length === 1 && types[0] ? types[0] : { is, types }
  }
  const union = (): Type => series('|', 'any-of', () => series('&', 'all-of', single))
  function single(): Type {
    const first = take()
    if (first === '{') return object()
    if (first === 'Array' || first === 'Set') {
      take('<')
      const of = union()
      take('>')
      return { is: 'list', of }
    }
    if (/^['"]/.test(first)) return { is: 'literal', value: first.slice(1, -1) }
    while (peek() === '[' || peek() === ']') take()
    return { is: 'name', name: first }
  }
  function object(): Type {
    const fields: Field[] = []
    while (peek() !== '}') {
      if (peek() === '[') {
        while (take() !== ']');
        take(':')
        union()
      } else {
        const name = take().replace(/^['"]|['"]$/g, '')
        const isOptional = peek() === '?'
        if (isOptional) take()
        take(':')
        fields.push({ name, isRequired: !isOptional, type: union() })
      }
      if (peek() === ';') take()
    }
    take('}')
    return { is: 'object', fields }
  }
  return union()
}

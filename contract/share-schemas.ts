export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined }
type JsonObject = { readonly [key: string]: Json | undefined }

/** Smaller schemas are easier to read in place. */
const leastLength = 300

/**
 * Moves every larger object schema that occurs in several places into `schemas`, with a `$ref` in
 * each place. Leaves examples alone. A schema is named after the field or operation where it occurs
 * first.
 */
export function shareSchemas(paths: JsonObject): { readonly paths: Json; readonly schemas: JsonObject } {
  const places = new Map<string, number>()
  visit(paths, (node) => {
    const text = JSON.stringify(node)
    places.set(text, (places.get(text) ?? 0) + 1)
  })
  const names = new Map<string, string>()
  const taken = new Set<string>()
  const schemas: Record<string, Json> = {}

  const share = (node: Json | undefined, place: string): Json => {
    if (Array.isArray(node)) return node.map((item) => share(item, place.replace(/s$/, '')))
    if (!isObject(node)) return node ?? null
    const text = isObjectSchema(node) ? JSON.stringify(node) : ''
    const isShared = text.length >= leastLength && (places.get(text) ?? 0) > 1
    if (!isShared) return members(node, place)
    const known = names.get(text)
    const name = known ?? free(place)
    if (known === undefined) {
      names.set(text, name)
      schemas[name] = members(node, place)
    }
    return { $ref: `#/components/schemas/${name}` }
  }
  const members = (node: JsonObject, place: string): Json =>
    Object.fromEntries(
      Object.entries(node).map(([key, value]) => [
        key,
        key === 'example' ? value : share(value, placeOf(node, key, place)),
      ]),
    )
  const free = (place: string): string => {
    const base = place === '' ? 'Schema' : pascalCase(place)
    let name = base
    for (let n = 2; taken.has(name); n++) name = `${base}${n}`
    taken.add(name)
    return name
  }
  return { paths: share(paths, ''), schemas: Object.fromEntries(Object.entries(schemas).sort(byName)) }
}

/** Keys of the OpenAPI format itself, after which no schema is named. */
const formWords = new Set(['properties', 'items', 'content', 'application/json', 'schema', 'anyOf', 'oneOf', 'allOf'])

function placeOf(node: JsonObject, key: string, place: string): string {
  if (key === 'requestBody') return `${String(node['operationId'])}Body`
  if (key === 'responses') return `${String(node['operationId'])}Reply`
  if (formWords.has(key) || /^\d+$/.test(key)) return key === 'items' ? place.replace(/s$/, '') : place
  return key
}

function visit(node: Json | undefined, see: (schema: JsonObject) => void): void {
  if (Array.isArray(node)) for (const item of node) visit(item, see)
  if (!isObject(node)) return
  if (isObjectSchema(node)) see(node)
  for (const [key, value] of Object.entries(node)) if (key !== 'example') visit(value, see)
}

const isObject = (node: Json | undefined): node is JsonObject =>
  typeof node === 'object' && node !== null && !Array.isArray(node)
const isObjectSchema = ({ type, properties }: JsonObject): boolean =>
  isObject(properties) && (type === 'object' || (Array.isArray(type) && type.includes('object')))
const pascalCase = (text: string): string =>
  text
    .split(/[^A-Za-z0-9]/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')
const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1)

/**
 * Lists as PostgreSQL writes them. The driver would ask each new connection for these types, and a connection that is cut
 * in that moment would leave an error that nobody can catch; so they are told to it instead.
 */
type Value = string | number | bigint | null

/** One dimension: `{a,"b c",NULL}`. */
export function parseArray<T>(text: string, parse: (element: string) => T): (T | null)[] {
  const elements: (T | null)[] = []
  const inner = text.slice(text.indexOf('{') + 1, -1)
  const element = /"((?:[^"\\]|\\[\s\S])*)"|([^,]+)/g
  for (const [, quoted, plain = ''] of inner.matchAll(element)) {
    if (quoted !== undefined) elements.push(parse(quoted.replace(/\\([\s\S])/g, '$1')))
    else elements.push(plain === 'NULL' ? null : parse(plain))
  }
  return elements
}

/** Every element in quotes; what is no list is sent as it is. */
export function serializeArray(list: readonly Value[] | string): string {
  if (typeof list === 'string') return list
  const quoted = list.map((value) =>
    value === null ? 'NULL' : `"${String(value).replace(/[\\"]/g, (character) => `\\${character}`)}"`,
  )
  return `{${quoted.join(',')}}`
}

const arrayType = <T>(oid: number, parse: (element: string) => T) => ({
  to: oid,
  from: [oid],
  serialize: serializeArray,
  parse: (text: string) => parseArray(text, parse),
})

const asText = (element: string): string => element

/** By PostgreSQL's numbers of the types; other lists come as text. */
export const arrayTypes = {
  textArray: arrayType(1009, asText),
  varcharArray: arrayType(1015, asText),
  uuidArray: arrayType(2951, asText),
  intArray: arrayType(1007, Number),
  bigintArray: arrayType(1016, Number),
}

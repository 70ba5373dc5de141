/**
 * Lists in PostgreSQL's text form. The types are given to the driver, because it would otherwise
 * ask each new connection for them, and a connection that is cut at that moment would cause an
 * error that nobody can catch.
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

/** Writes every element in quotes. Other values are sent unchanged. */
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

/** By PostgreSQL's type numbers. Other lists arrive as text. */
export const arrayTypes = {
  textArray: arrayType(1009, asText),
  varcharArray: arrayType(1015, asText),
  uuidArray: arrayType(2951, asText),
  intArray: arrayType(1007, Number),
  bigintArray: arrayType(1016, Number),
}

import type { TSchema } from '@quayside/contract/schema.ts'
import build from 'fast-json-stringify'

type Serialize = (data: unknown) => string

/**
 * Returns the serializer of a reply. It is built for the first such reply: most servers are never asked for most of the
 * operations, and building all serializers takes as long as the rest of a start. A result that several requests share is
 * serialized once.
 */
export function serializerCompiler({ schema }: { readonly schema: TSchema }): Serialize {
  let serialize: Serialize | undefined
  const texts = new WeakMap<object, string>()
  return (data) => {
    serialize ??= build(schema)
    if (typeof data !== 'object' || data === null) return serialize(data)
    const known = texts.get(data)
    if (known !== undefined) return known
    const text = serialize(data)
    texts.set(data, text)
    return text
  }
}

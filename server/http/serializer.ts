import type { TSchema } from '@quayside/contract/schema.ts'
import build from 'fast-json-stringify'

type Serialize = (data: unknown) => string

/**
 * Returns a serializer that is built on first use. Most servers never use most operations, and
 * building all serializers takes as long as the rest of the start.
 */
export function serializerCompiler({ schema }: { readonly schema: TSchema }): Serialize {
  let serialize: Serialize | undefined
  return (data) => {
    serialize ??= build(schema)
    return serialize(data)
  }
}

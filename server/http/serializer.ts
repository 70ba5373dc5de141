import type { TSchema } from '@quayside/contract/schema.ts'
import build from 'fast-json-stringify'

type Serialize = (data: unknown) => string

/**
 * Makes the serializer of a reply when the first such reply is sent: most servers are never asked
 * for most of the operations, and all serializers together take as long as the rest of a start.
 */
export function serializerCompiler({ schema }: { readonly schema: TSchema }): Serialize {
  let serialize: Serialize | undefined
  return (data) => {
    serialize ??= build(schema)
    return serialize(data)
  }
}

import type { Operation } from '@quayside/contract'
import type { FastifyReply } from 'fastify'
import { notFound } from '../lib/error.ts'
import type { Handlers } from './call.ts'
import type { AnyCall, Handle } from './reply.ts'
import { readerOf } from './siblings.ts'
import { queryValidator } from './validate.ts'

/** Reads the object that a change is about, as GET returns it. */
export interface Reader {
  read(call: AnyCall, reply: FastifyReply): Promise<string>
  /** Whether the reply is text instead of JSON. */
  readonly isText: boolean
}

/** Creates the reader of a change. Undefined if no GET returns the object without a query. */
export function createReader(changing: Operation, handlers: Handlers): Reader | undefined {
  const operation = readerOf(changing)
  if (!operation || (operation.query?.required ?? []).length > 0) return undefined
  const validateQuery = operation.query && queryValidator(operation.query)
  // The types of the contract guarantee that the handler accepts these calls; see Handlers.
  const handle = handlers[operation.handler as keyof Handlers] as unknown as Handle
  const isText = operation.contentType !== undefined
  let serialize: ReturnType<FastifyReply['compileSerializationSchema']> | undefined
  return {
    isText,
    async read(call, reply) {
      const result = await handle({ ...call, query: validateQuery?.({}), body: undefined })
      if (result === undefined) throw notFound('object')
      // The types of the contract say that it is an object or a string.
      if (isText) return result as string
      serialize ??= reply.compileSerializationSchema(operation.reply)
      return serialize(result as Record<string, unknown>)
    },
  }
}

import type { Operation } from '@quayside/contract'
import type { FastifyReply } from 'fastify'
import { AppError } from '../lib/error.ts'
import type { Handlers } from './call.ts'
import type { AnyCall, Handle } from './reply.ts'
import { readerOf } from './siblings.ts'
import { queryValidator } from './validate.ts'

/** Answers what stands under the address of a change, as GET does. */
export interface Reader {
  read(call: AnyCall, reply: FastifyReply): Promise<string>
  /** It is no JSON. */
  readonly isText: boolean
}

/** Undefined where nothing answers that, or not without a query. */
export function createReader(changing: Operation, handlers: Handlers): Reader | undefined {
  const operation = readerOf(changing)
  if (!operation || (operation.query?.required ?? []).length > 0) return undefined
  const validateQuery = operation.query && queryValidator(operation.query)
  // The contract's types guarantee that this handler takes what this operation gives: see Handlers.
  const handle = handlers[operation.handler as keyof Handlers] as unknown as Handle
  const isText = operation.contentType !== undefined
  let serialize: ReturnType<FastifyReply['compileSerializationSchema']> | undefined
  return {
    isText,
    async read(call, reply) {
      const result = await handle({ ...call, query: validateQuery?.({}), body: undefined })
      if (result === undefined) throw new AppError('notFound', 'There is no such object.')
      // An object, or a text, as the types of the contract say.
      if (isText) return result as string
      serialize ??= reply.compileSerializationSchema(operation.reply)
      return serialize(result as Record<string, unknown>)
    },
  }
}

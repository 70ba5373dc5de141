import type { Operation } from '@quayside/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { withOwner } from '../database/index.ts'
import { type ChangeOptions, createChanger } from './change.ts'
import { etagOf, hasCurrent, readTags } from './conditions.ts'
import { type Asked, contentTypeOf, type Handle, ownerOf, send, serialize } from './reply.ts'
import { isVersioned } from './siblings.ts'

type Answer = (asked: Asked) => Promise<unknown>

/**
 * Creates the function that answers an operation. Its statements use the connection share of the
 * caller's organization.
 */
export function createAnswer(operation: Operation, handle: Handle, options: ChangeOptions): Answer {
  const answer = answerOf(operation, handle, options)
  return (asked) => withOwner(ownerOf(asked.call), () => answer(asked))
}

/** Chooses how to answer: a read, a read with an ETag, or a change in one transaction. */
function answerOf(operation: Operation, handle: Handle, options: ChangeOptions): Answer {
  if (operation.event) return createChanger({ ...operation, event: operation.event }, handle, options)
  const versioned = isVersioned(operation)
  return async ({ call, request, reply }) => {
    const result = await handle(call)
    return versioned ? sendVersioned(operation, request, reply, result) : send(operation, reply, result)
  }
}

function sendVersioned(
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
  result: unknown,
): FastifyReply {
  if (result === undefined) return send(operation, reply, result)
  const text = serialize(operation, reply, result)
  const etag = etagOf(text)
  reply.header('etag', etag)
  const known = readTags(request.headers, 'if-none-match')
  if (known && hasCurrent(known, etag)) return reply.code(304).send()
  return reply.code(operation.status).type(contentTypeOf(operation)).send(text)
}

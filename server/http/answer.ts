import type { Operation } from '@quayside/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { withOwner } from '../database/index.ts'
import { type ChangeOptions, createChanger } from './change.ts'
import { etagOf, hasCurrent, readTags } from './conditions.ts'
import { type AnyCall, type Asked, contentTypeOf, type Handle, ownerOf, send, serialize } from './reply.ts'
import { SharedReads } from './shared-reads.ts'
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

/**
 * Chooses how to answer: a change in one transaction, a read with an ETag, a read that equal ones
 * share, or another read.
 */
function answerOf(operation: Operation, handle: Handle, options: ChangeOptions): Answer {
  if (operation.event) return createChanger({ ...operation, event: operation.event }, handle, options)
  if (isVersioned(operation)) {
    return async ({ call, request, reply }) => sendVersioned(operation, request, reply, await handle(call))
  }
  if (isShared(operation)) return createSharedAnswer(operation, handle, options)
  return async ({ call, reply }) => send(operation, reply, await handle(call))
}

/**
 * Whether equal reads share an execution (ADR 0081). A read of one object needs no statement
 * besides the one that authorizes it, which is shared already.
 */
const isShared = ({ method, body }: Operation): boolean => method === 'GET' && body === undefined

function createSharedAnswer(operation: Operation, handle: Handle, { clock }: ChangeOptions): Answer {
  const reads = new SharedReads<string | undefined>(clock)
  return async ({ call, request, reply, arrival }) => {
    const execute = async (): Promise<string | undefined> => {
      const result = await withOwner(ownerOf(call), () => handle(call))
      return result === undefined ? undefined : serialize(operation, reply, result)
    }
    const text = await reads.read({ key: keyOf(call, request.url), arrival, execute })
    if (text === undefined) return send(operation, reply, undefined)
    return reply.code(operation.status).type(contentTypeOf(operation)).send(text)
  }
}

/** Everything that the answer of one operation depends on, besides the stored objects. */
const keyOf = ({ caller, client }: AnyCall, url: string): string =>
  `${caller.kind} ${caller.id} ${client.origin} ${client.dialect} ${url}`

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

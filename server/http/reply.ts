import type { Operation } from '@quayside/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Authorized } from '../access/index.ts'
import type { Client, RecordRequest } from './call.ts'

/**
 * An authorised, validated request, as handlers get it; the contract's types say what is in it for
 * which handler.
 */
export interface AnyCall extends Authorized {
  readonly ids: readonly string[]
  readonly words: Readonly<Record<string, string>>
  readonly query: unknown
  readonly body: unknown
  readonly client: Client
  readonly kind: string | undefined
  readonly record?: RecordRequest
}
/**
 * Returns whose share of the connections a call takes. A person of several organizations is an
 * owner too.
 */
export const ownerOf = ({ caller }: AnyCall): string => caller.organizationId || caller.id

export type Handle = (call: AnyCall) => Promise<unknown>

export interface Asked {
  readonly call: AnyCall
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** Loads caller and target anew. */
  readonly reload: () => Promise<Authorized>
}

/** `undefined` is an answer without a body. */
export function send(operation: Operation, reply: FastifyReply, result: unknown): FastifyReply {
  if (result === undefined) return reply.code(emptyStatus(operation)).send()
  if (operation.contentType) reply.type(operation.contentType)
  return reply.code(operation.status).send(result)
}

export const emptyStatus = ({ reply, status }: Operation): number => (reply['type'] === 'null' ? status : 204)

/** The reply as it is sent by the operation's own route, so that it can be compared or kept. */
export const serialize = ({ contentType, status }: Operation, reply: FastifyReply, result: unknown): string =>
  // An object, or a text where there is a content type, as the types of the contract say.
  contentType ? (result as string) : String(reply.serializeInput(result as Record<string, unknown>, String(status)))

export const contentTypeOf = ({ contentType }: Operation): string => contentType ?? 'application/json; charset=utf-8'

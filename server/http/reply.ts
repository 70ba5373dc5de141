import type { Operation } from '@quayside/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Authorized } from '../access/index.ts'
import type { Client, RecordRequest } from './call.ts'

/**
 * An authorised and validated request, as handlers get it. The types of the contract say what it
 * holds for each handler.
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
 * Returns the owner of the connection share that a call uses. A person in several organizations is
 * an owner too.
 */
export const ownerOf = ({ caller }: AnyCall): string => caller.organizationId || caller.id

export type Handle = (call: AnyCall) => Promise<unknown>

export interface Asked {
  readonly call: AnyCall
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** Grows with every request of the operation, from before the request was authorized. */
  readonly arrival: number
  /** Loads caller and target again. */
  readonly reload: () => Promise<Authorized>
}

/** Sends a result. `undefined` is a reply without a body. */
export function send(operation: Operation, reply: FastifyReply, result: unknown): FastifyReply {
  if (result === undefined) return reply.code(emptyStatus(operation)).send()
  if (operation.contentType) reply.type(operation.contentType)
  return reply.code(operation.status).send(result)
}

export const emptyStatus = ({ reply, status }: Operation): number => (reply['type'] === 'null' ? status : 204)

/** Serialises a reply as the operation's route sends it, so that it can be compared or kept. */
export const serialize = ({ contentType, status }: Operation, reply: FastifyReply, result: unknown): string =>
  // The types of the contract say that it is an object, or a string with a content type.
  contentType ? (result as string) : String(reply.serializeInput(result as Record<string, unknown>, String(status)))

export const contentTypeOf = ({ contentType }: Operation): string => contentType ?? 'application/json; charset=utf-8'

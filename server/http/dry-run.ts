import type { Operation } from '@quayside/contract'
import type { FastifyReply } from 'fastify'
import { type Database, unitOfWork } from '../database/index.ts'
import type { Plans } from '../rollout/index.ts'
import { type AnyCall, ownerOf } from './reply.ts'

/** Whether `?dry_run=true` asks what would happen. */
export const isDryRun = ({ plan }: Operation, { query }: AnyCall): boolean =>
  plan !== undefined && Object(query).dry_run === true

/** By the name of the handler whose effect is planned. `act` calls it. */
type Planner = (plans: Plans, target: never, act: () => Promise<unknown>, body: unknown) => Promise<unknown>
const planners: Readonly<Record<string, Planner>> = {
  editService: (plans, target, act) => plans.edit(target, act),
  deployEnvironment: (plans, target, act) => plans.deployEnvironment(target, act),
  rollbackService: (plans, target, act, body) => plans.rollback(target, act, Object(body).execution_id),
}

/** The way out of a unit of work that must not be committed. */
class Undone extends Error {
  readonly plan: unknown

  constructor(plan: unknown) {
    super('this was a dry run')
    this.plan = plan
  }
}

/** The planner of an operation that has a plan; throws where somebody forgot to write one. */
export function createDryRun(
  operation: Operation,
  { database, plans }: { readonly database: Database; readonly plans: Plans },
) {
  const schema = operation.plan
  const planner = planners[operation.handler]
  if (!schema || !planner) {
    if (schema) throw new Error(`${operation.handler} has no plan`)
    return undefined
  }
  let serialize: ReturnType<FastifyReply['compileSerializationSchema']> | undefined
  /**
   * Does what the operation does in a transaction, looks what would come of it, and rolls it back.
   */
  return async (call: AnyCall, reply: FastifyReply, act: () => Promise<unknown>): Promise<FastifyReply> => {
    // The target is what the operation's path names, as its own handler gets it.
    const work = async () => Promise.reject(new Undone(await planner(plans, call.target as never, act, call.body)))
    const plan: unknown = await unitOfWork(database, work, { owner: ownerOf(call) }).catch((error: unknown) => {
      if (error instanceof Undone) return error.plan
      throw error
    })
    serialize ??= reply.compileSerializationSchema(schema)
    // An object, as the schema says.
    const body = serialize(plan as Record<string, unknown>)
    return reply.code(200).type('application/json; charset=utf-8').send(body)
  }
}

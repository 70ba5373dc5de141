import type { Operation } from '@quayside/contract'
import type { FastifyReply } from 'fastify'
import { type Database, unitOfWork } from '../database/index.ts'
import type { Plans } from '../rollout/index.ts'
import { type AnyCall, ownerOf } from './reply.ts'

/** Whether `?dry_run=true` is set on an operation that supports it. */
export const isDryRun = ({ plan }: Operation, { query }: AnyCall): boolean =>
  plan !== undefined && Object(query).dry_run === true

/** Planners by the name of the handler. Each calls `act` to run the handler. */
type Planner = (plans: Plans, target: never, act: () => Promise<unknown>, body: unknown) => Promise<unknown>
const planners: Readonly<Record<string, Planner>> = {
  editService: (plans, target, act) => plans.edit(target, act),
  deployEnvironment: (plans, target, act) => plans.deployEnvironment(target, act),
  rollbackService: (plans, target, act, body) => plans.rollback(target, act, Object(body).execution_id),
}

/** Carries the plan out of a unit of work and rolls it back. */
class Undone extends Error {
  readonly plan: unknown

  constructor(plan: unknown) {
    super('this was a dry run')
    this.plan = plan
  }
}

/** Creates the dry run of an operation that has a plan. Throws if its planner is missing. */
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
  /** Runs the operation in a transaction, computes its plan, and rolls the transaction back. */
  return async (call: AnyCall, reply: FastifyReply, act: () => Promise<unknown>): Promise<FastifyReply> => {
    // The target has the type that the operation's own handler expects.
    const work = async () => Promise.reject(new Undone(await planner(plans, call.target as never, act, call.body)))
    const plan: unknown = await unitOfWork(database, work, { owner: ownerOf(call) }).catch((error: unknown) => {
      if (error instanceof Undone) return error.plan
      throw error
    })
    serialize ??= reply.compileSerializationSchema(schema)
    // The schema says that it is an object.
    const body = serialize(plan as Record<string, unknown>)
    return reply.code(200).type('application/json; charset=utf-8').send(body)
  }
}

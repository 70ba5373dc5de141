import { type Action, isAtRest, refusal } from '@quayside/contract/states.ts'
import { recordChangeWith } from '../audit/index.ts'
import { listServices, type ServiceRow } from '../services/index.ts'
import { servicesAskedSince } from './asked-since-store.ts'
import { acceptRequest, type RecordRequest, type RequestedBy, type RequestOptions } from './request.ts'

/** A start or stop by the deployment rule of an environment. */
export interface RuleOrder {
  readonly environment: {
    readonly id: string
    readonly name: string
    readonly organization_id: string
    readonly project_id: string
  }
  readonly ruleId: string
  /** The rule leaves a service alone if others made a request for it after this time. */
  readonly since: Date
}

/**
 * Creates the requests of deployment rules. They join the caller's unit of work and throw like
 * requests of users.
 */
export function createScheduled(options: RequestOptions) {
  const { database } = options
  const mine = async ({ environment, since, ruleId }: RuleOrder): Promise<ServiceRow[]> => {
    const asked = { environmentId: environment.id, since, besides: ruleId }
    const others = await servicesAskedSince(database, asked)
    // A restore deploys its service again itself.
    return (await listServices(database, environment.id)).filter(
      ({ id, is_skipped, restoring }) => !is_skipped && restoring === null && !others.has(id),
    )
  }
  const ask = async (order: RuleOrder, action: Action, services: readonly ServiceRow[]): Promise<void> => {
    if (services.length === 0) return
    // The deployed commit: a rule does not deploy a new version.
    const commitOf = ({ deployed_commit }: ServiceRow) => (action === 'DEPLOY' ? deployed_commit?.id : undefined)
    const targets = services.map((service) => ({ service, commit: commitOf(service) }))
    await acceptRequest(options, { environment: order.environment, action, targets, by: byRule(options, order) })
  }

  return {
    /** Stops all services that run or are about to, and returns their ids. */
    async stop(order: RuleOrder): Promise<string[]> {
      const running = (await mine(order)).filter(
        (service) => isWanted(service) && refusal('STOP', service.state) === undefined,
      )
      await ask(order, 'STOP', running)
      return running.map(({ id }) => id)
    },

    /** Deploys those of the services that do not run. */
    async start(order: RuleOrder, ids: readonly string[]): Promise<void> {
      const idle = (await mine(order)).filter((service) => ids.includes(service.id) && !isWanted(service))
      await ask(
        order,
        'DEPLOY',
        idle.filter(({ state }) => refusal('DEPLOY', state) === undefined),
      )
    },
  }
}

/** Whether a service runs or a request will start it. */
const isWanted = ({ release_id, state }: ServiceRow): boolean =>
  (release_id !== null && state !== 'STOP_QUEUED' && state !== 'STOPPING') ||
  (!isAtRest(state) && /^(?:BUILDING|QUEUED|EXECUTING|DEPLOY|RESTART)/.test(state))

const byRule = ({ clock }: RequestOptions, { environment, ruleId }: RuleOrder): RequestedBy => {
  const [name, origin] = ['deployment rule', 'QOVERY_INTERNAL' as const]
  const record: RecordRequest = (sql, accepted, change) => {
    const request = Object(change)
    return recordChangeWith(
      sql,
      {
        organization_id: environment.organization_id,
        created_at: clock.now(),
        event_type: request.action === 'STOP' ? 'TRIGGER_STOP' : 'TRIGGER_DEPLOY',
        target_type: 'ENVIRONMENT',
        target_id: environment.id,
        target_name: environment.name,
        sub_target_type: null,
        project_id: environment.project_id,
        project_name: null,
        environment_id: environment.id,
        environment_name: environment.name,
        origin,
        triggered_by: name,
        caller: ruleId,
        user_agent: null,
        change: JSON.stringify(change),
        original_change: null,
        request_id: String(request.id),
      },
      accepted,
    )
  }
  return { id: ruleId, name, origin, record }
}

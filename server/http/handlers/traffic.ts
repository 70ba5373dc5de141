import { visible } from '../../access/index.ts'
import { readMoment } from '../../audit/index.ts'
import type { Handlers } from '../call.ts'
import type { Rooms } from './rooms.ts'

/** Handlers for the numbers about traffic. */
export const trafficHandlers = ({ traffic, metrics }: Rooms) =>
  ({
    getServiceTraffic: async ({ target, query }) =>
      traffic.ofService(target.id, {
        from: readMoment('fromTimestamp', query?.fromTimestamp),
        to: readMoment('toTimestamp', query?.toTimestamp),
        step_seconds: query?.step,
      }),
    getOrganizationMetrics: ({ target, caller }) => {
      const { environment } = visible(caller)
      return metrics.ofOrganization(target.id, ({ project_id, mode }) => environment(project_id, mode))
    },
    listEnvironmentTraffic: ({ target }) => traffic.ofEnvironment(target.id),
  }) satisfies Partial<Handlers>

import { readMoment } from '../../audit/index.ts'
import type { Handlers } from '../call.ts'
import type { Rooms } from './rooms.ts'

/** Handlers for the numbers about traffic. */
export const trafficHandlers = ({ traffic }: Rooms) =>
  ({
    getServiceTraffic: async ({ target, query }) =>
      traffic.ofService(target.id, {
        from: readMoment('fromTimestamp', query?.fromTimestamp),
        to: readMoment('toTimestamp', query?.toTimestamp),
        step_seconds: query?.step,
      }),
    listEnvironmentTraffic: ({ target }) => traffic.ofEnvironment(target.id),
  }) satisfies Partial<Handlers>

import { refusal, type State } from '@quayside/contract/states.ts'
import { kinds } from './kinds.ts'
import type { ServiceRow, StageRow } from './stage-rows.ts'

/** Pure: the body that restarts the services of an environment, or why none can be restarted. */
export function restartableIn(stages: readonly StageRow[]) {
  const able = stages
    .flatMap(({ services }) => services)
    // Restarts of an environment know fewer kinds than the states do.
    .filter(({ kind, status }) => kinds[kind].restart && refusal('RESTART', status.state as State) === undefined)
  const idsOf = (kind: ServiceRow['kind']): string[] => able.filter((row) => row.kind === kind).map(({ id }) => id)
  return {
    refusal: able.length === 0 ? 'no service is running' : undefined,
    body: {
      application_ids: idsOf('application'),
      container_ids: idsOf('container'),
      database_ids: idsOf('database'),
    },
  }
}

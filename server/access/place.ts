import type { Operation } from '@quayside/contract/operation.ts'
import type { Place } from './caller.ts'

type Row = Readonly<Record<string, unknown>>

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/**
 * The location of an operation in the organization: the project and the mode of environments, from
 * the row of its target. `clusterId` is from the path, if an operation of an organization names a
 * cluster.
 */
export function placeOf({ target }: Pick<Operation, 'target'>, row: Row, clusterId?: string): Place {
  switch (target) {
    case 'caller':
      return {}
    case 'organization':
      return clusterId === undefined ? {} : { clusterId }
    case 'cluster':
      return { clusterId: text(row['id']) }
    case 'project':
      return { projectId: text(row['id']) }
    case 'environment':
      return { projectId: text(row['project_id']), mode: text(row['mode']) }
    case 'service':
    case 'stage':
    case 'variable':
    case 'deploymentRequest':
      return { projectId: text(row['project_id']), mode: text(row['environment_mode']) }
  }
}

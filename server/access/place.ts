import type { Operation } from '@quayside/contract/operation.ts'
import type { Place } from './caller.ts'

type Row = Readonly<Record<string, unknown>>

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/**
 * Where in the organization an operation happens: the row of its target says which project and which mode of environments.
 * `clusterId` is that of the path, where an operation of an organization names one.
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

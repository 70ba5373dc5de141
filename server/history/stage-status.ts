import type { TargetRow } from '../requests/index.ts'

export type StageStatus = 'QUEUED' | 'ONGOING' | 'DONE' | 'ERROR' | 'SKIPPED' | 'CANCELED'

/** Pure: returns the progress of a service within its stage. */
export function toStageStatus(status: TargetRow['status']): StageStatus {
  if (status === 'SUCCESS') return 'DONE'
  return status === 'CANCELING' ? 'ONGOING' : status
}

const weight: readonly StageStatus[] = ['ONGOING', 'ERROR', 'CANCELED', 'QUEUED', 'DONE', 'SKIPPED']
/** Pure: returns the status of a stage from its services. */
export const stageStatus = (statuses: readonly StageStatus[]): StageStatus =>
  weight.find((status) => statuses.includes(status)) ?? 'DONE'

import { keptText } from './stack-failure.ts'
import type { StackRunRow } from './stack-store.ts'

/**
 * Returns why a stack is locked, and what to do. `serial` is that of the state that is kept of a
 * lost run.
 */
export const lockedText = (
  { id, status, created_at }: Pick<StackRunRow, 'id' | 'status' | 'created_at'>,
  serial: number | undefined,
): string =>
  status === 'LOST'
    ? `The stack is locked: its run ${id} ended without its last state. ${keptText(serial)} ` +
      'Check them, and then unlock it by a deployment with the action FORCE_UNLOCK.'
    : `The stack is locked by its run ${id} since ${created_at.toISOString()}. Try again when that has ended.`

import type { StackRunRow } from './stack-store.ts'

/** Returns why a stack is locked, and what to do. */
export const lockedText = ({ id, status, created_at }: Pick<StackRunRow, 'id' | 'status' | 'created_at'>): string =>
  status === 'LOST'
    ? `The stack is locked: the state that its run ${id} wrote is lost, so resources may be missing in it. ` +
      'Check them, and then unlock it by a deployment with the action FORCE_UNLOCK.'
    : `The stack is locked by its run ${id} since ${created_at.toISOString()}. Try again when that has ended.`

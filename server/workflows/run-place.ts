import type { Run } from './run-workflow.ts'
import { persist } from './statement.ts'
import { setResting } from './workflow-store.ts'

/** The place of one run, which it leaves while all of its current steps only wait. */
export interface RunPlace {
  /** Begins a step. A step that does not rest has a place from then on. */
  enter(rests: boolean): Promise<void>
  /** Ends a step. */
  exit(rests: boolean): Promise<void>
  /** Takes the place again in order. Returns without it when the run is aborted. */
  takeInOrder(): Promise<void>
}

export function createRunPlace({ claimed, lease, places, ...run }: Run): RunPlace {
  const owner = claimed.organization_id ?? ''
  const current = { resting: 0, working: 0 }
  let isResting = claimed.is_resting
  let writing: Promise<void> = Promise.resolve()
  const write = async (): Promise<void> => {
    if (current.resting + current.working === 0) return
    if (current.working > 0) places.take(lease.id, owner)
    const rests = current.working === 0
    if (rests !== isResting) {
      const isHeld = await persist(run, lease, () => setResting(run.database, lease, rests))
      if (!isHeld) throw lease.lose('another process took it over')
      isResting = rests
    }
    if (rests && current.working === 0) places.leave(lease.id)
  }
  /** One write after the other, each of what is true by then. */
  const change = (rests: boolean, by: 1 | -1): Promise<void> => {
    current[rests ? 'resting' : 'working'] += by
    const next = writing.then(write, write)
    writing = next
    return next
  }
  return {
    enter: (rests) => change(rests, 1),
    exit: (rests) => change(rests, -1),
    // The platform waits behind nobody.
    takeInOrder: async () => {
      if (claimed.organization_id === null) places.take(lease.id, owner)
      else await places.takeInOrder(lease.id, owner, lease.work)
    },
  }
}

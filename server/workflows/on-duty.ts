import type { Reconciler } from '../lib/reconciler.ts'
import type { Duty } from './duty.ts'
import { type Reconcilers, type ReconcilersOptions, runReconcilers } from './reconcilers.ts'

export interface OnDutyOptions extends Omit<ReconcilersOptions, 'reconcilers'> {
  readonly duty: Duty
  /** Returns the reconcilers of each server. */
  readonly always: () => readonly Reconciler[]
  /** Returns those of the server that has the duty. */
  readonly whileHeld: () => readonly Reconciler[]
  /** Called before they start. Forgets what this process knew of things that others changed. */
  readonly gained: () => Promise<unknown>
  /** Called after they were told to end. */
  readonly lost: () => Promise<unknown>
}

export interface OnDuty extends Reconcilers {
  /** Returns the reconcilers that run here now. */
  readonly current: () => readonly Reconciler[]
}

/**
 * Runs reconcilers: some in each server, the others only in the one that has the duty. `nudge` and
 * `remind` do nothing for one that runs in another server, which finds the work within a second.
 */
export function runOnDuty(options: OnDutyOptions): OnDuty {
  const { duty, always, whileHeld, gained, lost, log } = options
  let isWorking = false
  let isStopping = false
  const current = (): readonly Reconciler[] => (isWorking ? [...always(), ...whileHeld()] : always())
  const reconcilers = runReconcilers({ ...options, reconcilers: current })
  const isHere = (name: string): boolean => current().some((one) => one.name === name)
  const changed = async (isHeld: boolean): Promise<void> => {
    // The server that stops hands over in order, and leaves the duty last.
    if (isStopping) return
    if (isHeld) await gained()
    isWorking = isHeld
    reconcilers.refresh()
    if (!isHeld) await lost()
  }
  duty.start((isHeld) =>
    changed(isHeld).catch((error: unknown) => log.error({ err: error }, 'work was not handed over')),
  )
  return {
    ...reconcilers,
    current,
    nudge: (name) => {
      if (isHere(name)) reconcilers.nudge(name)
    },
    remind: (name) => {
      if (isHere(name)) reconcilers.remind(name)
    },
    stop: async () => {
      isStopping = true
      await reconcilers.stop()
    },
  }
}

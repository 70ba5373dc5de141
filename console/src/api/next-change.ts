import { useSyncExternalStore } from 'react'
import type { RecordedRequest } from './as-curl.ts'

/** Whether the next change of a person is sent or shown as a command. */
export type NextChange =
  | { readonly as: 'sent' | 'shown' }
  /** The change that is shown now. It was not sent. */
  | { readonly as: 'command'; readonly requests: readonly RecordedRequest[] }
  | { readonly as: 'problem'; readonly error: unknown }

let now: NextChange = { as: 'sent' }
const listeners = new Set<() => void>()
const set = (next: NextChange): void => {
  now = next
  for (const listener of listeners) listener()
}

export const useNextChange = (): NextChange =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    () => now,
  )

/** Has the console show the next change as a command instead of sending it. */
export const showNextChange = (): void => set({ as: 'shown' })
/** Has the console send changes again. */
export const sendChanges = (): void => set({ as: 'sent' })

/** Sends a change, or shows it if the person asked for that. Only the next one is shown. */
export function sendOrShow(send: () => void, preview: () => Promise<readonly RecordedRequest[]>): void {
  if (now.as !== 'shown') {
    send()
    return
  }
  set({ as: 'sent' })
  void preview().then(
    (requests) => set({ as: 'command', requests }),
    (error: unknown) => set({ as: 'problem', error }),
  )
}

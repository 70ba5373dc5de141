import { useSyncExternalStore } from 'react'

// The end of a session while a page is open. The page stays, and continues when the person has
// signed in again in another tab.

let opened: BroadcastChannel | undefined
function channel(): BroadcastChannel {
  opened ??= new BroadcastChannel('quayside.session')
  return opened
}

let isEnded = false
const listeners = new Set<() => void>()
function setEnded(next: boolean): void {
  isEnded = next
  for (const listener of listeners) listener()
}

/** Whether the session has ended, so that nothing can be read or changed until the next sign-in. */
export const useIsSessionEnded = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    () => isEnded,
  )

/** Says to the other tabs that somebody signed in. The message has no content. */
export const announceSignIn = (): void => channel().postMessage('')

/** Waits until another tab announces a sign-in or the person comes back to this one. */
async function nextChance(): Promise<void> {
  const heard = new AbortController()
  await new Promise((resolve) => {
    channel().addEventListener('message', resolve, { signal: heard.signal })
    addEventListener('focus', resolve, { signal: heard.signal })
  })
  heard.abort()
}

/** Tries at each chance until it succeeds. A failure waits for the next chance. */
export async function waitForSignIn<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  setEnded(true)
  for (;;) {
    await nextChance()
    const result = await attempt().catch(() => undefined)
    if (result !== undefined) {
      setEnded(false)
      return result
    }
  }
}

import { useSyncExternalStore } from 'react'
import { hasUnsaved } from './unsaved.ts'

// A console that is built again while somebody uses it. The page that runs asks for scripts whose
// names are gone, and only a reload gets the new ones.

let isWaiting = false
const listeners = new Set<() => void>()

/** Whether the page needs a reload that would lose unsaved input, so that a person decides. */
export const useNeedsReload = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    () => isWaiting,
  )

/**
 * Loads code of the console. If it fails because the server has a newer build, the page reloads
 * itself, and the promise never settles. With unsaved input the page asks first. Every other
 * failure is rejected, such as a server that cannot be reached. The new page runs the new build, so
 * it does not reload again.
 */
export const loadCode = <T>(load: () => Promise<T>): Promise<T> =>
  load().catch(async (error: unknown) => {
    if (!(await isReplaced().catch(() => false))) throw error
    if (!hasUnsaved()) location.reload()
    else if (!isWaiting) {
      isWaiting = true
      for (const listener of listeners) listener()
    }
    return new Promise<never>(() => {})
  })

/** Whether the page of the server begins with another script than the one that runs. */
async function isReplaced(): Promise<boolean> {
  const running = document.querySelector('script[type="module"][src]')?.getAttribute('src')
  const answer = await fetch('/', { cache: 'no-store' })
  if (!running || !answer.ok) return false
  const page = await answer.text()
  return page.includes('<script type="module"') && !page.includes(running)
}

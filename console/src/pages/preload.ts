import { useEffect } from 'react'
import { Popup } from '../ui/Popup.tsx'
import { Palette } from './palette/CommandCenter.tsx'

/** The code that most people need next, the soonest first. */
const next: readonly (() => Promise<unknown>)[] = [
  Popup.preload,
  () => import('./environment/EnvironmentPage.tsx'),
  () => import('./ServicePage.tsx'),
  Palette.preload,
]

/** Loads code that people need next, once the first page is drawn and the browser is idle. */
export function usePreload(): void {
  useEffect(() => whenIdle(() => void preloadAll()), [])
}

async function preloadAll(): Promise<void> {
  // The code is loaded again when it is drawn, and then the page shows the error.
  for (const load of next) await load().catch(() => undefined)
}

/** Calls `work` when the browser is idle. Returns a function that cancels it. */
function whenIdle(work: () => void): () => void {
  // Safari has no idle callbacks.
  if (!('requestIdleCallback' in window)) {
    const timer = setTimeout(work, 200)
    return () => clearTimeout(timer)
  }
  const handle = requestIdleCallback(work, { timeout: 2_000 })
  return () => cancelIdleCallback(handle)
}

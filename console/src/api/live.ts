import { followEvents, type StreamEvent } from '@quayside/client/events.ts'
import { useEffect, useSyncExternalStore } from 'react'
import { queries } from './client.ts'
import { keysOf } from './live-keys.ts'
import { accessToken } from './session.ts'

// The stream of the organization says what has changed. The reads of it are then made again, so no
// page polls.

const firstWaitMs = 500
const longestWaitMs = 10_000
/** Events that arrive within this time after a read cause one more read. */
const gatherMs = 50

let isConnected = true
const listeners = new Set<() => void>()
function setConnected(next: boolean): void {
  if (next === isConnected) return
  isConnected = next
  for (const listener of listeners) listener()
}

/** Whether the pages know the present state. */
export const useIsConnected = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    () => isConnected,
  )

/** Follows the changes of an organization as long as the component is there. */
export function useLiveOrganization(organizationId: string): void {
  useEffect(() => {
    const ended = new AbortController()
    void follow(organizationId, ended.signal)
    return () => ended.abort()
  }, [organizationId])
}

async function follow(organizationId: string, signal: AbortSignal): Promise<void> {
  let lastId = ''
  for (let waitMs = firstWaitMs; !signal.aborted; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    try {
      const events = followEvents({
        baseUrl: '',
        token: accessToken,
        organizationId,
        signal,
        ...(lastId === '' ? {} : { lastId }),
      })
      for await (const event of events) {
        waitMs = firstWaitMs
        setConnected(true)
        if (event.id !== '') lastId = event.id
        gather(organizationId, event)
      }
    } catch {
      if (signal.aborted) return
      setConnected(false)
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
}

const changed = new Map<string, readonly string[]>()
let isGathering = false

/** Reads again at once. Events that follow within `gatherMs` cause one more read at its end. */
function gather(organizationId: string, event: StreamEvent): void {
  for (const key of keysOf(organizationId, event)) changed.set(key.join(), key)
  if (!isGathering) refresh()
}

function refresh(): void {
  const keys = [...changed.values()]
  changed.clear()
  isGathering = keys.length > 0
  if (!isGathering) return
  setTimeout(refresh, gatherMs)
  for (const queryKey of keys) void queries.invalidateQueries({ queryKey })
}

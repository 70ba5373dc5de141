import type { Agent } from 'node:http'
import { systemClock as clock } from '../server/lib/clock.ts'
import type { Session } from './figure.ts'
import { type Answer, keepAlive } from './http.ts'

interface Lost {
  readonly reason: string
  /** When it was sent, since the first one. */
  readonly atMs: number
}

/** Requests at a constant rate, and those that were lost. */
export interface Traffic {
  sent(): number
  /** The requests without a complete 200. */
  lost(): readonly Lost[]
  /** Waits for open requests. */
  stop(): Promise<void>
}

/**
 * Sends requests at a constant rate, even if earlier ones are not answered. One half uses
 * persistent connections, the other a new one each.
 */
export function sendRequests(ask: (agent: Agent | undefined) => Promise<Answer>, perSecond: number): Traffic {
  const agent = keepAlive()
  const stopping = new AbortController()
  const open = new Set<Promise<void>>()
  const lost: Lost[] = []
  const startedAt = clock.monotonic()
  let sent = 0
  const send = (): void => {
    const atMs = clock.monotonic() - startedAt
    const one = ask(sent++ % 2 ? agent : undefined)
      .then(({ status, body }) => {
        if (status !== 200) lost.push({ reason: `${status} ${body.slice(0, 100)}`, atMs })
      })
      .catch((error: unknown) => void lost.push({ reason: String(error), atMs }))
      .finally(() => open.delete(one))
    open.add(one)
  }
  const sending = (async () => {
    while (!stopping.signal.aborted) {
      // Sends all requests that are due, even if this process is late.
      const due = ((clock.monotonic() - startedAt) * perSecond) / 1000
      while (sent < due) send()
      await clock.sleep(2)
    }
  })()
  return {
    sent: () => sent,
    lost: () => lost,
    stop: async () => {
      stopping.abort()
      await sending
      await Promise.all(open)
      agent.destroy()
    },
  }
}

/** Prints how many requests were lost for each reason, and when. */
export function reportLost({ say }: Session, traffic: Traffic): void {
  const secondsOf = (one: Lost | undefined): string => ((one?.atMs ?? 0) / 1000).toFixed(1)
  for (const [reason, all] of Map.groupBy(traffic.lost(), (one) => one.reason)) {
    say(`  ${all.length} × ${reason.trim()}, sent ${secondsOf(all[0])} to ${secondsOf(all.at(-1))} s after the first`)
  }
}

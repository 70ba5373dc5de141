import { Agent, request } from 'node:http'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { until } from './until.ts'

export interface Answer {
  readonly status: number
  readonly body: string
}

type Headers = Readonly<Record<string, string>>

/**
 * Requests an application's URL from the router. The name is not resolved: the router listens on
 * 127.0.0.1, and an ingress controller at another address.
 */
export function get(url: string, agent?: Agent, address = '127.0.0.1', more: Headers = {}): Promise<Answer> {
  const { port, host, pathname, username, password } = new URL(url)
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const options = {
    host: address,
    port,
    path: pathname,
    headers: { host, ...more },
    timeout: 20_000,
    ...(username && { auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}` }),
    ...(agent && { agent }),
  }
  const call = request(options, (answer) => {
    let body = ''
    answer.setEncoding('utf8')
    answer.on('data', (part: string) => {
      body += part
    })
    answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }))
    answer.on('error', reject)
  })
  call.on('timeout', () => call.destroy(new Error('no answer within 20 s')))
  call.on('error', reject)
  call.end()
  return promise
}

export interface Tally {
  readonly sent: number
  /** How often each body was answered with 200. */
  readonly bodies: ReadonlyMap<string, number>
  /** Answers other than 200, and errors, as text. */
  readonly lost: readonly string[]
  readonly slowestMs: number
}

export interface Traffic {
  stop(): Promise<Tally>
  tally(): Tally
  /** Waits until this many more requests were sent. */
  sends(count: number): Promise<void>
}

/**
 * Sends requests at a constant rate over kept-alive connections, even if earlier ones are
 * unanswered.
 */
export function startTraffic(url: string, perSecond = 100, address?: string, headers?: Headers): Traffic {
  const agent = new Agent({ keepAlive: true })
  const bodies = new Map<string, number>()
  const lost: string[] = []
  const open = new Set<Promise<void>>()
  const over = new AbortController()
  let sent = 0
  let slowestMs = 0

  const one = async (): Promise<void> => {
    const began = clock.monotonic()
    try {
      const { status, body } = await get(url, agent, address, headers)
      if (status === 200) bodies.set(body, (bodies.get(body) ?? 0) + 1)
      else lost.push(`${status} ${body.slice(0, 200)}`)
    } catch (error) {
      lost.push(String(error))
    }
    slowestMs = Math.max(slowestMs, clock.monotonic() - began)
  }
  const send = async (): Promise<void> => {
    for (let due = clock.monotonic(); !over.signal.aborted; due += 1000 / perSecond) {
      await clock.sleep(Math.max(0, due - clock.monotonic()), over.signal).catch(() => {})
      if (over.signal.aborted) return
      sent++
      const call = one().finally(() => open.delete(call))
      open.add(call)
    }
  }
  const sending = send()
  const tally = (): Tally => ({ sent, bodies, lost, slowestMs })
  return {
    tally,
    sends: async (count) => {
      const from = sent
      await until('more requests were sent', () => sent >= from + count)
    },
    stop: async () => {
      over.abort()
      await sending
      await Promise.all(open)
      agent.destroy()
      return tally()
    },
  }
}

import type { Route } from '@quayside/contract/routes.ts'
import type { PeopleLists } from '@quayside/contract/sign-in.ts'
import { AppError } from '../../lib/error.ts'
import {
  activityIn,
  batchesIn,
  type ControlAnswer,
  type ControlRequest,
  canariesIn,
  linesIn,
  numberIn,
  servicesIn,
  servicesWithLines,
  unexpected,
} from '../control-answer.ts'
import { certificatesOf } from '../platform-certificates.ts'
import type { Router } from '../router.ts'
import { sendCertificates } from '../send-certificates.ts'
import type { TlsSource } from '../tls-source.ts'
import { askRouter } from './control.ts'
import { ensureRouterProcess, type RouterProcessOptions } from './router-process.ts'
import { changesBetween, isEmptyChange } from './sent-routes.ts'

export interface OwnRouterOptions {
  /** The certificates of its hosts. Without it, the router speaks HTTP only. */
  readonly certificates?: TlsSource | undefined
  readonly process: RouterProcessOptions
  /** Routes that every table has, in addition to its own. None by default. */
  readonly always?: readonly Route[]
  /** The time limit of one request to the process. Default 5,000. */
  readonly timeoutMs?: number
}

const attempts = 5

/**
 * The router as a separate process. A new table gets the version after that of the process. Only
 * its changes are sent, unless the process has another table than the last one. The same table
 * keeps its version, and is sent again only if the process does not confirm it. Tables are applied
 * one at a time.
 */
export function createOwnRouter({
  process: options,
  certificates,
  always = [],
  timeoutMs = 5_000,
}: OwnRouterOptions): Router {
  const { controlSocket } = options
  let last: Sent = { version: 0, routes: [], people: {} }
  let turn: Promise<unknown> = Promise.resolve()
  const ask = (question: Pick<ControlRequest, 'method' | 'path' | 'body'>, signal: AbortSignal) =>
    askRouter(controlSocket, { ...question, timeoutMs, signal })

  const put: Router['replaceAll'] = async (routes, signal, people = {}) => {
    const changes = last.version === 0 ? undefined : changesBetween(last, { routes, people })
    const isKnown = changes !== undefined && isEmptyChange(changes)
    if (changes) {
      const answer = await ask(
        isKnown ? confirmationOf(last) : { method: 'PATCH', path: '/routes', body: changes },
        signal,
      )
      if (answer.status === 200) {
        last = { version: isKnown ? last.version : changes.version, routes, people }
        return takenOf(answer)
      }
    }
    let table = { version: isKnown ? last.version : last.version + 1, routes, people }
    for (let attempt = 0; attempt < attempts; attempt++) {
      const answer = await ask({ method: 'PUT', path: '/routes', body: table }, signal)
      if (answer.status === 200) {
        last = { version: table.version, routes, people }
        return takenOf(answer)
      }
      if (answer.status !== 409) throw unexpected(answer)
      table = { version: numberIn(answer, 'version') + 1, routes, people }
    }
    throw new AppError(
      'unavailable',
      'The router got other route tables meanwhile; another control plane may be using it.',
    )
  }

  return {
    countsRequests: () => true,
    sharesRequests: () => true,
    usesPlatformTls: () => certificates !== undefined,
    replaceAll: (routes, signal, people) => {
      const result = turn.then(async () => {
        if (certificates) {
          await sendCertificates(certificates, (one) => askRouter(controlSocket, { ...one, timeoutMs, signal }))
        }
        return put([...routes, ...always], signal, people)
      })
      turn = result.catch(() => {})
      return result
    },
    drained: async (endpoints, drainMs, signal) => {
      const body = { endpoints, timeoutMs: drainMs }
      const patience = drainMs + timeoutMs
      const answer = await askRouter(controlSocket, {
        method: 'POST',
        path: '/drain',
        body,
        timeoutMs: patience,
        signal,
      })
      if (answer.status !== 200) throw unexpected(answer)
      return numberIn(answer, 'open')
    },
    renew: async (signal) => void (await ensureRouterProcess({ ...options, signal })),
    portAddresses: async () => [],
    certificates: async () => (certificates ? certificatesOf(last.routes, await certificates.states()) : []),
    listFindings: async () => [],
    wakes: async (sequence, waitMs, signal) => {
      const body = { sequence, timeoutMs: waitMs }
      const patience = waitMs + timeoutMs
      const question = { method: 'POST', path: '/wakes', body, timeoutMs: patience, signal } as const
      const answer = await askRouter(controlSocket, question)
      return { services: servicesIn(answer), sequence: numberIn(answer, 'sequence') }
    },
    takeCounts: async (stored, signal) =>
      batchesIn(
        await askRouter(controlSocket, { method: 'POST', path: '/traffic', body: { stored }, timeoutMs, signal }),
      ),
    canaryCounts: async (signal) =>
      canariesIn(await askRouter(controlSocket, { method: 'GET', path: '/canaries', timeoutMs, signal })),
    takeLines: async (signal) => {
      const wanted = servicesWithLines(last.routes)
      if (wanted.size === 0) return []
      return linesIn(await askRouter(controlSocket, { method: 'POST', path: '/lines', timeoutMs, signal }), wanted)
    },
    activity: async (signal) => {
      const found = activityIn(await askRouter(controlSocket, { method: 'GET', path: '/activity', timeoutMs, signal }))
      for (const { service } of always) found.delete(service)
      return found
    },
  }
}

/** The table that the process had last. */
interface Sent {
  readonly version: number
  readonly routes: readonly Route[]
  readonly people: PeopleLists
}

const confirmationOf = ({ version }: Sent) => ({ method: 'POST', path: '/confirm', body: { version } }) as const

/** Returns the ports of the table that other programs use. */
const takenOf = ({ body: { taken } }: ControlAnswer): readonly number[] =>
  Array.isArray(taken) ? taken.filter((port) => typeof port === 'number') : []

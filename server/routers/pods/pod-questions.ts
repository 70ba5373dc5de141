import type { AccessLine } from '@quayside/contract/access-line.ts'
import type { CanaryCount } from '@quayside/contract/canary-counts.ts'
import type { Route, RouteEndpoint } from '@quayside/contract/routes.ts'
import type { CountBatch, StoredBatches } from '@quayside/contract/traffic-counts.ts'
import { AppError } from '../../lib/error.ts'
import { askCluster } from '../ask-cluster.ts'
import {
  activityIn,
  batchesIn,
  type ControlAnswer,
  type ControlRequest,
  canariesIn,
  linesIn,
  numberIn,
  servicesWithLines,
} from '../control-answer.ts'
import type { Activity } from '../router.ts'
import { addActivity } from './answers.ts'
import type { RouterPods } from './router-pods.ts'

/** The time limit of one request to one router. A router that hangs delays the others no longer. */
export const answerMs = 5_000

/** Asks all routers of a cluster about their traffic, and adds their answers. */
export class PodQuestions {
  readonly #pods: Pick<RouterPods, 'running'>

  constructor(pods: Pick<RouterPods, 'running'>) {
    this.#pods = pods
  }

  /** Adds the open requests of all routers, including the ones that are leaving. */
  drained(endpoints: readonly RouteEndpoint[], timeoutMs: number, signal: AbortSignal): Promise<number> {
    return askCluster(signal, async () => {
      if (endpoints.length === 0) return 0
      const body = { endpoints, timeoutMs }
      const question = { method: 'POST', path: '/drain', body, timeoutMs: timeoutMs + answerMs, signal } as const
      const counts = await this.#askAll(question, (answer) => numberIn(answer, 'open'))
      const answered = answersOf(counts)
      if (answered.length > 0) return answered.reduce((sum, count) => sum + count, 0)
      const failed = counts.find((count) => count.status === 'rejected')
      throw failed?.reason ?? new AppError('unavailable', 'No router of the cluster runs.')
    })
  }

  /** Throws if one that gets requests does not answer, so that no used service counts as idle. */
  activity(signal: AbortSignal): Promise<ReadonlyMap<string, Activity>> {
    return askCluster(signal, async () => {
      const question = { method: 'GET', path: '/activity', timeoutMs: answerMs, signal } as const
      return addActivity(await this.#askServing(question, activityIn))
    })
  }

  /** Throws if one that gets requests does not answer, so that no failure goes unnoticed. */
  canaryCounts(signal: AbortSignal): Promise<readonly CanaryCount[]> {
    return askCluster(signal, async () => {
      const question = { method: 'GET', path: '/canaries', timeoutMs: answerMs, signal } as const
      return (await this.#askServing(question, canariesIn)).flat()
    })
  }

  /** Routers that do not answer keep their numbers until they do. */
  takeCounts(stored: StoredBatches, signal: AbortSignal): Promise<readonly CountBatch[]> {
    return askCluster(signal, async () => {
      const question = { method: 'POST', path: '/traffic', body: { stored }, timeoutMs: answerMs, signal } as const
      return answersOf(await this.#askAll(question, batchesIn)).flat()
    })
  }

  /** Takes the lines of requests to services of these routes. */
  takeLines(routes: readonly Route[], signal: AbortSignal): Promise<readonly AccessLine[]> {
    return askCluster(signal, async () => {
      const wanted = servicesWithLines(routes)
      if (wanted.size === 0) return []
      const question = { method: 'POST', path: '/lines', timeoutMs: answerMs, signal } as const
      return answersOf(await this.#askAll(question, (answer) => linesIn(answer, wanted))).flat()
    })
  }

  /** Asks all routers that get requests, or have some left. Throws if one does not answer. */
  async #askServing<T>(
    question: ControlRequest & { readonly signal: AbortSignal },
    read: (answer: ControlAnswer) => T,
  ): Promise<readonly T[]> {
    const pods = (await this.#pods.running(question.signal)).filter(({ isReady, isLeaving }) => isReady || isLeaving)
    if (pods.length === 0) throw new AppError('unavailable', 'No router of the cluster gets requests.')
    return Promise.all(pods.map(async ({ link }) => read(await link.ask(question))))
  }

  /** Asks all running routers at once. One that fails does not spoil the answers of others. */
  async #askAll<T>(
    question: ControlRequest & { readonly signal: AbortSignal },
    read: (answer: ControlAnswer) => T,
  ): Promise<readonly PromiseSettledResult<T>[]> {
    const { signal } = question
    const pods = await this.#pods.running(signal)
    const answers = await Promise.allSettled(pods.map(async ({ link }) => read(await link.ask(question))))
    signal.throwIfAborted()
    return answers
  }
}

const answersOf = <T>(answers: readonly PromiseSettledResult<T>[]): readonly T[] =>
  answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))

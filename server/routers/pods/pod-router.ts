import { isDeepStrictEqual } from 'node:util'
import type { AccessLine } from '@quayside/contract/access-line.ts'
import type { Route, RouteEndpoint, RouteTable } from '@quayside/contract/routes.ts'
import type { PeopleLists } from '@quayside/contract/sign-in.ts'
import type { CountBatch, StoredBatches } from '@quayside/contract/traffic-counts.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/error.ts'
import { activityIn, batchesIn, linesIn, numberIn, servicesWithLines, unexpected } from '../control-answer.ts'
import { unreachable } from '../ingress/apply-objects.ts'
import { statusOf } from '../ingress/kube-objects.ts'
import { certificatesOf } from '../platform-certificates.ts'
import type { Activity, RouteCertificate, Router } from '../router.ts'
import { sendCertificates } from '../send-certificates.ts'
import type { TlsSource } from '../tls-source.ts'
import { addActivity } from './answers.ts'
import { installRouter, readKey, readTableVersion, storeTable } from './installation.ts'
import { findingsOf } from './pod-findings.ts'
import type { PodKube } from './pod-kube.ts'
import { tlsFindings, withoutTls } from './pod-tls.ts'
import { PodWakes } from './pod-wakes.ts'
import { createNames, type NameSetting, nameRoutes, removeNames } from './release-names.ts'
import { rolledOut } from './rollout.ts'
import type { RouterObjectSetting } from './router-objects.ts'
import { type RouterPod, RouterPods } from './router-pods.ts'

export interface PodRouterOptions {
  readonly kube: PodKube
  readonly clock: Clock
  readonly setting: Omit<RouterObjectSetting, 'pullConfig' | 'speaksTls'>
  readonly names: NameSetting
  /** Reads the credentials with which nodes take the image. */
  readonly pullConfig: () => Promise<string | undefined>
  /** The certificates of the cluster's hosts. Without it, the routers speak HTTP only. */
  readonly certificates?: TlsSource | undefined
}

/** The time limit of one request to one router. A router that hangs delays the others no longer. */
const answerMs = 5_000
/** The same for one request with all certificates. */
const certificatesMs = 30_000
/** A router that gets requests and cannot be reached for so long is replaced. */
const lostMs = 15_000
/** How long a rollout of routers may take before the caller hears of it. */
const rolloutMs = 60_000
const attempts = 5

/** A table without its version. */
type Carried = Required<Omit<RouteTable, 'version'>>

/** The certificates that all routers must have now. */
type Certificates = Pick<TlsSource, 'mark' | 'material'>

/** Our router in pods of a cluster. The server sends each of them the whole table. */
export function createPodRouter(options: PodRouterOptions): Router {
  const routers = new PodRouter(options)
  return {
    countsRequests: () => true,
    usesPlatformTls: () => options.certificates !== undefined,
    replaceAll: (routes, signal, people) => routers.replaceAll(routes, signal, people),
    drained: (endpoints, timeoutMs, signal) => routers.drained(endpoints, timeoutMs, signal),
    wakes: (sequence, timeoutMs, signal) => routers.wakes.wait(sequence, timeoutMs, signal),
    activity: (signal) => routers.activity(signal),
    takeLines: (signal) => routers.takeLines(signal),
    takeCounts: (stored, signal) => routers.takeCounts(stored, signal),
    canaryCounts: async () => [],
    portAddresses: async () => [],
    certificates: () => routers.certificates(),
    renew: (signal) => routers.renew(signal),
    listFindings: async (signal, tls) => [
      ...(await routers.listFindings(signal)),
      ...tlsFindings(options.certificates !== undefined, tls),
    ],
  }
}

class PodRouter {
  readonly wakes: PodWakes
  readonly #options: PodRouterOptions
  readonly #pods: RouterPods
  /** The newest table, also before any router has it. Version 0: none yet. */
  #last: RouteTable = { version: 0, routes: [] }
  #storedVersion = 0
  #isTooLarge = false
  /** The version of the last table whose replicas have names, and no others. */
  #namedVersion = 0
  #isInstalled = false
  #key: string | undefined
  #turn: Promise<unknown> = Promise.resolve()

  constructor(options: PodRouterOptions) {
    this.#options = options
    const { kube, setting, clock } = options
    this.#pods = new RouterPods(kube, setting, () => this.#readKey())
    this.wakes = new PodWakes({
      clock,
      pods: (signal) => this.#upToDate(signal),
      knows: (service) => this.#last.routes.some((route) => route.service === service),
    })
  }

  /** Tables are applied one at a time, the last one wins. */
  replaceAll(routes: readonly Route[], signal: AbortSignal, people: PeopleLists = {}): Promise<readonly number[]> {
    const next = this.#turn.then(() => this.#ask(signal, () => this.#replace({ routes, people }, signal)))
    this.#turn = next.catch(() => {})
    return next
  }

  async #replace({ routes, people }: Carried, signal: AbortSignal): Promise<readonly number[]> {
    const { kube, setting, names } = this.#options
    const named = nameRoutes(routes, names)
    const carried = { routes: named.map(({ route }) => route), people }
    if (this.#last.version === 0) {
      this.#storedVersion = await readTableVersion(kube, setting, signal)
      this.#last = { version: this.#storedVersion, routes: [] }
    }
    const { version, ...last } = this.#last
    if (version === 0 || !isDeepStrictEqual(last, carried)) this.#advance(carried)
    if (!this.#isInstalled) await this.#install(signal)
    const isNamed = this.#namedVersion === this.#last.version
    const left = isNamed ? [] : await createNames(kube, names, named, signal)
    for (let attempt = 0; attempt < attempts; attempt++) {
      await this.#store(signal)
      const newest = await this.#sendAll(signal)
      if (newest < this.#last.version) {
        await removeNames(kube, left, signal)
        this.#namedVersion = this.#last.version
        return []
      }
      this.#advance(carried, newest)
    }
    const message =
      'The routers of the cluster got other route tables meanwhile; another control plane may be using them.'
    throw new AppError('unavailable', message)
  }

  #advance(carried: Carried, after = this.#last.version): void {
    this.#last = { version: after + 1, ...structuredClone(carried) }
  }

  async #store(signal: AbortSignal): Promise<void> {
    if (this.#storedVersion === this.#last.version) return
    const { kube, setting } = this.#options
    const table = this.#last
    this.#isTooLarge = !(await storeTable(kube, setting, table, signal))
    this.#storedVersion = table.version
  }

  /**
   * Sends the table to every router. Returns the version of a newer table that one has, or 0.
   * Throws `unavailable` if a router that gets requests does not have it then, or if none runs.
   */
  async #sendAll(signal: AbortSignal): Promise<number> {
    const pods = await this.#pods.running(signal)
    const outcomes = await this.#sendTo(pods, signal)
    const newest = Math.max(0, ...outcomes.map((outcome) => (typeof outcome === 'number' ? outcome : 0)))
    if (newest > 0) return newest
    const failed = outcomes.filter((outcome) => outcome instanceof Error)
    const late = pods.filter(
      ({ isReady, isLeaving, version }) => isReady && !isLeaving && version !== this.#last.version,
    )
    if (late.length > 0) {
      await this.#replaceLost(pods, signal)
      throw failed[0] ?? new AppError('unavailable', 'A router of the cluster does not have the table yet.')
    }
    if (pods.some(({ isLeaving, version }) => !isLeaving && version === this.#last.version)) return 0
    this.#isInstalled = false
    const why = await this.#pods.whyNone(signal)
    throw new AppError('unavailable', `No router of the cluster runs: ${why}.`, { cause: failed[0] })
  }

  /** The mark of the certificates is read once for all of them. */
  async #sendTo(pods: readonly RouterPod[], signal: AbortSignal): Promise<readonly (number | Error | undefined)[]> {
    const { certificates } = this.#options
    const mark = await certificates?.mark()
    const { material } = certificates ?? {}
    const marked = material && mark !== undefined ? { mark: async () => mark, material } : undefined
    return Promise.all(pods.map((pod) => this.#send(pod, marked, signal)))
  }

  /**
   * Sends the table to one router. Returns nothing if it has it now, else the version of a newer
   * one, or the failure.
   */
  async #send(
    pod: RouterPod,
    certificates: Certificates | undefined,
    signal: AbortSignal,
  ): Promise<number | Error | undefined> {
    const table = this.#last
    const { clock } = this.#options
    try {
      // First, so that a router that gets requests has the certificates of its hosts.
      if (certificates) {
        const limits = { timeoutMs: certificatesMs, signal }
        await sendCertificates(certificates, (one) => pod.link.ask({ ...one, ...limits }))
      }
      const sending = { method: 'PUT', path: '/routes', body: table, timeoutMs: answerMs, signal } as const
      const confirming = { ...sending, method: 'POST', path: '/confirm', body: { version: table.version } } as const
      const isKnown = pod.version === table.version && (await pod.link.ask(confirming)).status === 200
      const answer = isKnown ? undefined : await pod.link.ask(sending)
      pod.lostSince = undefined
      if (!answer) return undefined
      if (answer.status === 409) return numberIn(answer, 'version')
      if (answer.status !== 200) return unexpected(answer)
      pod.version = table.version
      return undefined
    } catch (error) {
      signal.throwIfAborted()
      pod.lostSince ??= clock.monotonic()
      return error instanceof Error ? error : new Error(String(error))
    }
  }

  /** Replaces one router that is lost for long, if another one has the table. */
  async #replaceLost(pods: readonly RouterPod[], signal: AbortSignal): Promise<void> {
    const now = this.#options.clock.monotonic()
    const isLost = ({ isReady, isLeaving, lostSince }: RouterPod): boolean =>
      isReady && !isLeaving && lostSince !== undefined && now - lostSince >= lostMs
    const [lost] = pods.filter(isLost)
    const hasOther = pods.some(
      ({ isReady, isLeaving, version }) => isReady && !isLeaving && version === this.#last.version,
    )
    if (lost && hasOther) await this.#pods.remove(lost, signal)
  }

  /** Returns the running routers, after new ones have got the table. */
  async #upToDate(signal: AbortSignal): Promise<readonly RouterPod[]> {
    return this.#ask(signal, async () => {
      const pods = await this.#pods.running(signal)
      const late = pods.filter(({ version }) => this.#last.version > 0 && version !== this.#last.version)
      if (late.length > 0) await this.#sendTo(late, signal)
      return pods
    })
  }

  /** Adds the open requests of all routers, also of those that leave. */
  drained(endpoints: readonly RouteEndpoint[], timeoutMs: number, signal: AbortSignal): Promise<number> {
    return this.#ask(signal, async () => {
      if (endpoints.length === 0) return 0
      const body = { endpoints, timeoutMs }
      const question = { method: 'POST', path: '/drain', body, timeoutMs: timeoutMs + answerMs, signal } as const
      const pods = await this.#pods.running(signal)
      const counts = await Promise.allSettled(pods.map(async ({ link }) => numberIn(await link.ask(question), 'open')))
      signal.throwIfAborted()
      const answered = counts.flatMap((count) => (count.status === 'fulfilled' ? count.value : []))
      if (answered.length > 0) return answered.reduce((sum, count) => sum + count, 0)
      const failed = counts.find((count) => count.status === 'rejected')
      throw failed?.reason ?? new AppError('unavailable', 'No router of the cluster runs.')
    })
  }

  /** Throws if one that gets requests does not answer, so that no used service counts as idle. */
  activity(signal: AbortSignal): Promise<ReadonlyMap<string, Activity>> {
    return this.#ask(signal, async () => {
      const pods = (await this.#pods.running(signal)).filter(({ isReady, isLeaving }) => isReady || isLeaving)
      if (pods.length === 0) throw new AppError('unavailable', 'No router of the cluster gets requests.')
      const question = { method: 'GET', path: '/activity', timeoutMs: answerMs, signal } as const
      return addActivity(await Promise.all(pods.map(async ({ link }) => activityIn(await link.ask(question)))))
    })
  }

  /** Routers that do not answer keep their numbers until they do. */
  takeCounts(stored: StoredBatches, signal: AbortSignal): Promise<readonly CountBatch[]> {
    return this.#ask(signal, async () => {
      const pods = await this.#pods.running(signal)
      const question = { method: 'POST', path: '/traffic', body: { stored }, timeoutMs: answerMs, signal } as const
      const answers = await Promise.allSettled(pods.map(async ({ link }) => batchesIn(await link.ask(question))))
      signal.throwIfAborted()
      return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    })
  }

  takeLines(signal: AbortSignal): Promise<readonly AccessLine[]> {
    return this.#ask(signal, async () => {
      const wanted = servicesWithLines(this.#last.routes)
      if (wanted.size === 0) return []
      const pods = await this.#pods.running(signal)
      const question = { method: 'POST', path: '/lines', timeoutMs: answerMs, signal } as const
      const answers = await Promise.allSettled(pods.map(async ({ link }) => linesIn(await link.ask(question), wanted)))
      signal.throwIfAborted()
      return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    })
  }

  /** Brings the routers to the operator's settings. Each new one gets the table before requests. */
  renew(signal: AbortSignal): Promise<void> {
    const { kube, clock, setting } = this.#options
    return this.#ask(signal, async () => {
      await this.#install(signal)
      const end = clock.monotonic() + rolloutMs
      for (;;) {
        await this.#upToDate(signal)
        const state = await rolledOut(kube, setting, signal)
        // Routers without any table wait for the first one.
        if (state.isDone || (this.#last.version === 0 && state.isCreated)) return
        if (clock.monotonic() > end) {
          const why = await this.#pods.whyNone(signal)
          throw new AppError('unavailable', `The routers of the cluster are not up to date: ${state.text}; ${why}.`)
        }
        await clock.sleep(500, signal)
      }
    })
  }

  async certificates(): Promise<readonly RouteCertificate[]> {
    const { certificates } = this.#options
    const { routes } = this.#last
    const others = routes.flatMap(({ service, host, tls }): RouteCertificate[] => {
      if (!tls || (certificates && tls.from === 'platform')) return []
      // The platform does not see what ends TLS in front of the routers.
      const isInFront = tls.from === 'controller'
      const failed = { state: 'FAILED', message: withoutTls } as const
      return [{ service, host, certificate: isInFront ? { state: 'READY', message: null } : failed }]
    })
    return certificates ? [...certificatesOf(routes, await certificates.states()), ...others] : others
  }

  listFindings(signal: AbortSignal) {
    return this.#ask(signal, () => findingsOf(this.#options, { isTooLarge: this.#isTooLarge }, signal))
  }

  async #install(signal: AbortSignal): Promise<void> {
    const { kube, setting, pullConfig, certificates } = this.#options
    const speaksTls = certificates !== undefined
    await installRouter(kube, { ...setting, speaksTls, pullConfig: await pullConfig() }, signal)
    this.#key = undefined
    this.#isInstalled = true
  }

  async #readKey(): Promise<string> {
    const { kube, setting } = this.#options
    this.#key ??= await readKey(kube, setting, AbortSignal.timeout(answerMs))
    return this.#key
  }

  /** Translates the errors of the API server. */
  async #ask<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    try {
      return await work()
    } catch (error) {
      signal.throwIfAborted()
      throw statusOf(error) === undefined ? error : unreachable(error)
    }
  }
}

import { isDeepStrictEqual } from 'node:util'
import type { AccessLine } from '@quayside/contract/access-line.ts'
import type { Route, RouteTable } from '@quayside/contract/routes.ts'
import type { PeopleLists } from '@quayside/contract/sign-in.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/error.ts'
import { askCluster } from '../ask-cluster.ts'
import type { RouteCertificate, Router } from '../router.ts'
import type { TlsSource } from '../tls-source.ts'
import { installRouter, readKey } from './installation.ts'
import { Keeping } from './keeping.ts'
import { findingsOf } from './pod-findings.ts'
import type { PodKube } from './pod-kube.ts'
import { answerMs, PodQuestions } from './pod-questions.ts'
import { certificatesInPods, sharingFindings, tlsFindings } from './pod-tls.ts'
import { PodWakes } from './pod-wakes.ts'
import { createNames, type NameSetting, nameRoutes, removeNames } from './release-names.ts'
import { rolledOut } from './rollout.ts'
import type { RouterObjectSetting } from './router-objects.ts'
import { type RouterPod, RouterPods } from './router-pods.ts'
import { TableSender } from './send-table.ts'

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

/** How long a rollout of routers may take before the caller hears of it. */
const rolloutMs = 60_000
const attempts = 5

/** A table without its version. */
type Carried = Required<Omit<RouteTable, 'version'>>

/** Our router in pods of a cluster. The server sends each of them the whole table. */
export function createPodRouter(options: PodRouterOptions): Router {
  const routers = new PodRouter(options)
  return {
    countsRequests: () => true,
    sharesRequests: () => true,
    usesPlatformTls: () => options.certificates !== undefined,
    replaceAll: (routes, signal, people) => routers.replaceAll(routes, signal, people),
    drained: (endpoints, timeoutMs, signal) => routers.questions.drained(endpoints, timeoutMs, signal),
    wakes: (sequence, timeoutMs, signal) => routers.wakes.wait(sequence, timeoutMs, signal),
    activity: (signal) => routers.questions.activity(signal),
    takeLines: (signal) => routers.takeLines(signal),
    takeCounts: (stored, signal) => routers.questions.takeCounts(stored, signal),
    canaryCounts: (signal) => routers.questions.canaryCounts(signal),
    portAddresses: async () => [],
    certificates: () => routers.certificates(),
    renew: (signal) => routers.renew(signal),
    listFindings: async (signal, tls) => [
      ...(await routers.listFindings(signal)),
      ...tlsFindings(options.certificates !== undefined, tls),
      ...(await sharingFindings(options.certificates)),
    ],
  }
}

class PodRouter {
  readonly wakes: PodWakes
  readonly questions: PodQuestions
  readonly #options: PodRouterOptions
  readonly #pods: RouterPods
  readonly #sender: TableSender
  readonly #keeping: Keeping
  /** The newest table, also before any router has it. Version 0: none yet. */
  #last: RouteTable = { version: 0, routes: [] }
  /** The version of the last table whose replicas have names, and no others. */
  #namedVersion = 0
  #isInstalled = false
  #key: string | undefined
  #turn: Promise<unknown> = Promise.resolve()

  constructor(options: PodRouterOptions) {
    this.#options = options
    const { kube, setting, clock, certificates } = options
    this.#pods = new RouterPods(kube, setting, () => this.#readKey())
    this.#sender = new TableSender({ clock, certificates, pods: this.#pods })
    this.#keeping = new Keeping({ kube, setting: { ...setting, speaksTls: certificates !== undefined }, certificates })
    this.questions = new PodQuestions(this.#pods)
    this.wakes = new PodWakes({
      clock,
      pods: (signal) => this.#upToDate(signal),
      knows: (service) => this.#last.routes.some((route) => route.service === service),
    })
  }

  /** Tables are applied one at a time, the last one wins. */
  replaceAll(routes: readonly Route[], signal: AbortSignal, people: PeopleLists = {}): Promise<readonly number[]> {
    const next = this.#turn.then(() => askCluster(signal, () => this.#replace({ routes, people }, signal)))
    this.#turn = next.catch(() => {})
    return next
  }

  async #replace({ routes, people }: Carried, signal: AbortSignal): Promise<readonly number[]> {
    const { kube, names } = this.#options
    const named = nameRoutes(routes, names)
    const carried = { routes: named.map(({ route }) => route), people }
    if (this.#last.version === 0) {
      this.#last = { version: await this.#keeping.readVersion(signal), routes: [] }
    }
    const { version, ...last } = this.#last
    if (version === 0 || !isDeepStrictEqual(last, carried)) this.#advance(carried)
    if (!this.#isInstalled) await this.#install(signal)
    const isNamed = this.#namedVersion === this.#last.version
    const left = isNamed ? [] : await createNames(kube, names, named, signal)
    for (let attempt = 0; attempt < attempts; attempt++) {
      await this.#keeping.keep(this.#last, signal)
      const { newest, none } = await this.#sender.sendAll(this.#last, signal)
      if (none) {
        this.#isInstalled = false
        throw none
      }
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

  /** Returns the running routers, after new ones have got the table. */
  async #upToDate(signal: AbortSignal): Promise<readonly RouterPod[]> {
    return askCluster(signal, async () => {
      const pods = await this.#pods.running(signal)
      const late = pods.filter(({ version }) => this.#last.version > 0 && version !== this.#last.version)
      if (late.length > 0) await this.#sender.sendTo(late, this.#last, signal)
      return pods
    })
  }

  /** Brings the routers to the operator's settings. Each new one gets the table before requests. */
  renew(signal: AbortSignal): Promise<void> {
    const { kube, clock, setting } = this.#options
    return askCluster(signal, async () => {
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

  takeLines(signal: AbortSignal): Promise<readonly AccessLine[]> {
    return this.questions.takeLines(this.#last.routes, signal)
  }

  certificates(): Promise<readonly RouteCertificate[]> {
    return certificatesInPods(this.#last.routes, this.#options.certificates)
  }

  listFindings(signal: AbortSignal) {
    return askCluster(signal, () => findingsOf(this.#options, this.#keeping, signal))
  }

  async #install(signal: AbortSignal): Promise<void> {
    const { kube, setting, pullConfig, certificates } = this.#options
    const speaksTls = certificates !== undefined
    await installRouter(kube, { ...setting, speaksTls, pullConfig: await pullConfig() }, signal)
    await this.#keeping.dropUnwanted(signal)
    this.#keeping.forget()
    this.#key = undefined
    this.#isInstalled = true
  }

  async #readKey(): Promise<string> {
    const { kube, setting } = this.#options
    this.#key ??= await readKey(kube, setting, AbortSignal.timeout(answerMs))
    return this.#key
  }
}

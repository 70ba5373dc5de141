import type { RouteTable } from '@quayside/contract/routes.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/error.ts'
import { numberIn, unexpected } from '../control-answer.ts'
import { sendCertificates } from '../send-certificates.ts'
import type { TlsSource } from '../tls-source.ts'
import { answerMs } from './pod-questions.ts'
import type { RouterPod, RouterPods } from './router-pods.ts'

/** The time limit of one request with all certificates. */
const certificatesMs = 30_000
/** A router that gets requests and cannot be reached for so long is replaced. */
const lostMs = 15_000

/** The certificates that all routers must have now. */
type Certificates = Pick<TlsSource, 'mark' | 'material'>

export interface TableSenderOptions {
  readonly clock: Clock
  readonly pods: RouterPods
  /** The certificates of the cluster's hosts. Without it, the routers speak HTTP only. */
  readonly certificates?: TlsSource | undefined
}

/** The result of sending a table to all routers. */
export interface Sending {
  /** The version of a newer table that one of them has, or 0. */
  readonly newest: number
  /** Set if no router runs: why. */
  readonly none?: AppError
}

/** Sends tables and certificates to the routers of a cluster. */
export class TableSender {
  readonly #options: TableSenderOptions

  constructor(options: TableSenderOptions) {
    this.#options = options
  }

  /**
   * Sends the table to every router. Throws `unavailable` if a router that gets requests does not
   * have it then.
   */
  async sendAll(table: RouteTable, signal: AbortSignal): Promise<Sending> {
    const { pods } = this.#options
    const running = await pods.running(signal)
    const outcomes = await this.sendTo(running, table, signal)
    const newest = Math.max(0, ...outcomes.map((outcome) => (typeof outcome === 'number' ? outcome : 0)))
    if (newest > 0) return { newest }
    const failed = outcomes.filter((outcome) => outcome instanceof Error)
    if (running.some((pod) => isServing(pod) && pod.version !== table.version)) {
      await this.#replaceLost(running, table, signal)
      throw failed[0] ?? new AppError('unavailable', 'A router of the cluster does not have the table yet.')
    }
    if (running.some(({ isLeaving, version }) => !isLeaving && version === table.version)) return { newest }
    const why = await pods.whyNone(signal)
    const none = new AppError('unavailable', `No router of the cluster runs: ${why}.`, { cause: failed[0] })
    return { newest, none }
  }

  /**
   * Sends the table to some routers. Returns the outcome of each one. The mark of the certificates
   * is read once for all of them.
   */
  async sendTo(
    pods: readonly RouterPod[],
    table: RouteTable,
    signal: AbortSignal,
  ): Promise<readonly (number | Error | undefined)[]> {
    const { certificates } = this.#options
    const mark = await certificates?.mark()
    const { material } = certificates ?? {}
    const marked = material && mark !== undefined ? { mark: async () => mark, material } : undefined
    return Promise.all(pods.map((pod) => this.#send(pod, table, marked, signal)))
  }

  /**
   * Sends the table to one router. Returns nothing if it has it now, else the version of a newer
   * one, or the failure.
   */
  async #send(
    pod: RouterPod,
    table: RouteTable,
    certificates: Certificates | undefined,
    signal: AbortSignal,
  ): Promise<number | Error | undefined> {
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
      pod.lostSince ??= this.#options.clock.monotonic()
      return error instanceof Error ? error : new Error(String(error))
    }
  }

  /** Replaces one router that is lost for long, if another one has the table. */
  async #replaceLost(pods: readonly RouterPod[], table: RouteTable, signal: AbortSignal): Promise<void> {
    const { clock, pods: cluster } = this.#options
    const now = clock.monotonic()
    const serving = pods.filter(isServing)
    const lost = serving.find(({ lostSince }) => lostSince !== undefined && now - lostSince >= lostMs)
    const hasOther = serving.some(({ version }) => version === table.version)
    if (lost && hasOther) await cluster.remove(lost, signal)
  }
}

const isServing = ({ isReady, isLeaving }: RouterPod): boolean => isReady && !isLeaving

import type { Database } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import { parseId } from '../lib/id.ts'
import { type ServiceLine, type StoredLine, serviceLine, serviceStream } from '../logs/index.ts'
import { batched } from './batched.ts'
import type { Outlet } from './outlet.ts'
import { listReleasesOf } from './service-logs-store.ts'
import { type StreamCall, serviceOf, textOf } from './stream-call.ts'
import type { Feed, StreamsOptions } from './streams.ts'

const defaultLimit = 1000
const longestTail = 10_000

/** Sends the last lines that match the query, then new ones unless the query has an end. */
export function serviceLogs({ lines, database }: Pick<StreamsOptions, 'database' | 'lines'>): Feed {
  return async (call, outlet, signal) => {
    const { id } = serviceOf(call)
    const deployment = textOf(call, 'deployment_id')
    const releases = deployment === undefined ? undefined : new ReleasesOf(database, id, deployment)
    await releases?.read()
    const fits = filterOf(call, releases)
    const start = textOf(call, 'start')
    const count = Number(call.query['limit'] ?? (start === undefined ? defaultLimit : longestTail))
    const stream = serviceStream(id)
    // The last line of all: everything after it is new.
    const [last] = await lines.tail(stream, 1)
    const seq = last?.seq ?? 0
    const former = count === 0 ? [] : await lines.tail(stream, count, (line) => line.seq <= seq && fits(line))
    const tell = tellerOf(call, outlet, signal)
    await tell(former)
    if (textOf(call, 'end') !== undefined) return
    for await (const batch of batched(lines.follow(stream, seq, signal), batchOf(call))) {
      for (const line of batch) await releases?.learn(serviceLine(line).release)
      await tell(batch.filter(fits))
    }
  }
}

/** The releases of a deployment, which may have none yet. */
class ReleasesOf {
  readonly #database: Database
  readonly #serviceId: string
  readonly #deployment: string
  /**
   * Whether the release belongs to the deployment. Each is looked up once, because it is recorded
   * before it prints anything.
   */
  readonly #known = new Map<string, boolean>()

  constructor(database: Database, serviceId: string, deployment: string) {
    this.#database = database
    this.#serviceId = serviceId
    this.#deployment = deployment
  }

  has(release: string): boolean {
    return release === this.#deployment || this.#known.get(release) === true
  }

  async read(): Promise<void> {
    for (const id of await listReleasesOf(this.#database, this.#serviceId, this.#deployment)) this.#known.set(id, true)
  }

  /** Looks the releases up again for an unknown one. */
  async learn(release: string): Promise<void> {
    if (release === '' || this.has(release) || this.#known.has(release)) return
    this.#known.set(release, false)
    await this.read()
  }
}

const batchOf = ({ query }: StreamCall): number => Number(query['batch'] ?? 1)

/** Returns how lines are sent: one a message, or as lists of at most the wanted number. */
function tellerOf(call: StreamCall, outlet: Outlet, signal: AbortSignal) {
  const { name } = serviceOf(call)
  const most = batchOf(call)
  return async (lines: readonly StoredLine[]): Promise<void> => {
    for (let start = 0; start < lines.length && !signal.aborted; start += most) {
      const messages = lines.slice(start, start + most).map((line) => toLog(serviceLine(line), name))
      await outlet.send(call.query['batch'] === undefined ? messages[0] : messages)
    }
  }
}

const toLog = ({ at, text, replica, release, container, stream, marker }: ServiceLine, service: string) => ({
  created_at: Date.parse(at),
  message: text,
  pod_name: replica,
  container_name: container || service,
  version: release,
  // The severity of a line is only in its text.
  severity_text: '',
  labels: stream === '' ? {} : { stream },
  from_kube: marker !== undefined,
})

/** Selects the lines of the query. Lines of the log about missing lines always match. */
function filterOf(call: StreamCall, releases: Pick<ReleasesOf, 'has'> | undefined): (line: StoredLine) => boolean {
  const replica = textOf(call, 'pod_name')
  // The name of a try contains the run's id, and the name of a replica that of its service.
  const isRun = isId(replica) && replica !== serviceOf(call).id
  const isOfRun = (name: string): boolean => isRun && name.includes(replica)
  const wanted = textOf(call, 'query')?.toLowerCase()
  const from = momentOf('start', textOf(call, 'start')) ?? Number.NEGATIVE_INFINITY
  const to = momentOf('end', textOf(call, 'end')) ?? Number.POSITIVE_INFINITY
  return (stored) => {
    const line = serviceLine(stored)
    const at = Date.parse(line.at)
    if (at < from || at > to) return false
    if (line.marker !== undefined) return true
    if (replica !== undefined && line.replica !== replica && !isOfRun(line.replica)) return false
    if (releases && !releases.has(line.release)) return false
    return wanted === undefined || line.text.toLowerCase().includes(wanted)
  }
}

const isId = (text: string | undefined): text is string => text !== undefined && parseId(text) !== undefined

/** RFC 3339, or a count of seconds, milliseconds or nanoseconds since 1970. */
function momentOf(name: 'start' | 'end', text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,20}$/.test(text))
    return text.length > 15 ? Number(text) / 1e6 : Number(text) * (text.length > 11 ? 1 : 1000)
  const moment = Date.parse(text)
  if (Number.isNaN(moment)) throw new AppError('invalid', `${name} must be a date and time, or a count since 1970.`)
  return moment
}

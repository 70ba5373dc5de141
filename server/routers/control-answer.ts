import { type RequestOptions, request } from 'node:http'
import { type AccessLine, isAccessLine } from '@quayside/contract/access-line.ts'
import { type CanaryCount, isCanaryCount } from '@quayside/contract/canary-counts.ts'
import type { Route } from '@quayside/contract/routes.ts'
import { type CountBatch, isCounts } from '@quayside/contract/traffic-counts.ts'
import type { Activity } from './router.ts'

/** One request to the control server of a router process. */
export interface ControlRequest {
  readonly method: 'GET' | 'PUT' | 'PATCH' | 'POST'
  readonly path: string
  readonly body?: unknown
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

export interface ControlAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** The activity of some ten thousand services. A longer answer is not one of a router. */
const longestAnswerBytes = 16 * 1024 * 1024

/** Sends one control request and reads its answer. Rejects if it is not an object of JSON. */
export function exchange(
  where: RequestOptions,
  { method, path, body }: Pick<ControlRequest, 'method' | 'path' | 'body'>,
  signal: AbortSignal,
): Promise<ControlAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<ControlAnswer>()
  const outgoing = request({ ...where, method, path, signal }, (answer) => {
    const chunks: Buffer[] = []
    let length = 0
    answer.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      length += chunk.length
      if (length > longestAnswerBytes) answer.destroy(new Error('the answer of the router is too long'))
    })
    answer.on('error', reject)
    answer.on('end', () => {
      try {
        resolve({ status: answer.statusCode ?? 0, body: parseObject(Buffer.concat(chunks).toString('utf8')) })
      } catch (error) {
        reject(error)
      }
    })
  })
  outgoing.on('error', (error) => reject(outgoing.reusedSocket ? new StaleConnectionError(error) : error))
  outgoing.end(body === undefined ? undefined : JSON.stringify(body))
  return promise
}

/** A kept connection broke. It may have been closed while it was idle. */
export class StaleConnectionError extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause })
    this.name = 'StaleConnectionError'
  }
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null) throw new Error('the router answered something else than an object')
  return { ...value }
}

/** Returns the services of an answer to `/wakes`. Throws for another answer. */
export function servicesIn(answer: ControlAnswer): readonly string[] {
  const { services } = answer.body
  if (answer.status !== 200 || !Array.isArray(services)) throw unexpected(answer)
  return services.filter((service) => typeof service === 'string')
}

/** Returns the traffic of each service from an answer to `/activity`. Throws for another answer. */
export function activityIn(answer: ControlAnswer): Map<string, Activity> {
  const { services } = answer.body
  if (answer.status !== 200 || !Array.isArray(services)) throw unexpected(answer)
  return new Map(services.map((one: unknown) => activityOf(one)))
}

function activityOf(value: unknown): [string, Activity] {
  const { service, requests, open } = Object(value)
  return [String(service), { requests: Number(requests), open: Number(open) }]
}

/** The most batches of one answer. The others follow when these are stored. */
const mostBatches = 100

/** Returns the numbers of an answer to `/traffic`. Throws for another answer. */
export function batchesIn(answer: ControlAnswer): readonly CountBatch[] {
  const { batches } = answer.body
  if (answer.status !== 200 || !Array.isArray(batches)) throw unexpected(answer)
  return batches.slice(0, mostBatches).map(batchOf)
}

function batchOf(value: unknown): CountBatch {
  const { source, batch, counts } = Object(value)
  const whole = Object.entries<unknown>(Object(counts)).flatMap(([service, one]) =>
    isCounts(one) ? [[service, one] as const] : [],
  )
  return { source: String(source), batch: Number(batch), counts: Object.fromEntries(whole) }
}

/** The most lines of one answer, which is more than a router keeps. */
const mostLines = 20_000

/** Returns the services of a table that want a line of each request. */
export const servicesWithLines = (routes: readonly Route[]): ReadonlySet<string> =>
  new Set(routes.flatMap(({ service, rules }) => (rules?.accessLines ? [service] : [])))

/**
 * Returns the lines of an answer to `/lines` for the wanted services. Throws for another answer.
 */
export function linesIn(answer: ControlAnswer, wanted: ReadonlySet<string>): readonly AccessLine[] {
  const { lines } = answer.body
  if (answer.status !== 200 || !Array.isArray(lines)) throw unexpected(answer)
  return lines.slice(0, mostLines).filter((line) => isAccessLine(line) && wanted.has(line.service))
}

/** Returns the numbers of an answer to `/canaries`. Throws for another answer. */
export function canariesIn(answer: ControlAnswer): readonly CanaryCount[] {
  const { canaries } = answer.body
  if (answer.status !== 200 || !Array.isArray(canaries)) throw unexpected(answer)
  return canaries.filter(isCanaryCount)
}

/** Returns a number of an answer. Throws if it is missing. */
export function numberIn(answer: ControlAnswer, name: string): number {
  const value = answer.body[name]
  if (typeof value !== 'number') throw unexpected(answer)
  return value
}

export const unexpected = ({ status, body }: ControlAnswer): Error =>
  new Error(`the router answered ${status}: ${JSON.stringify(body).slice(0, 500)}`)

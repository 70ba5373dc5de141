import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { RouteChanges, RouteTable } from '@quayside/contract/routes.ts'
import type { CountBatch, StoredBatches } from '@quayside/contract/traffic-counts.ts'
import type { Front } from './front/front.ts'
import type { LineSource } from './kept-lines.ts'
import { limits } from './limits.ts'
import { describe } from './log.ts'
import type { Ports } from './ports.ts'
import { record } from './record.ts'
import { parseEndpoints, parseRouteChanges, parseRouteTable } from './route-table.ts'
import type { SecureFront } from './secure-front.ts'
import { changedTable, hasSameRoutes, keepUnchanged } from './table-changes.ts'
import { parseTlsMaterial } from './tls-material.ts'
import type { Traffic } from './traffic.ts'
import type { Waiting } from './waiting.ts'

export interface ControlOptions extends Pick<Traffic, 'routes' | 'waiting' | 'visits' | 'log'>, LineSource {
  readonly tls: SecureFront
  readonly ports: Pick<Ports, 'look' | 'taken'>
  /** HAProxy in front of this router, if any. */
  readonly front?: Pick<Front, 'follow' | 'settle' | 'counts'> | undefined
  /** Stores a table on disk. `changes` made it from the one that was stored last, if any did. */
  save(table: RouteTable, changes?: RouteChanges): Promise<void>
  /** Returns the body of `GET /health`. */
  health(): object
  /** Returns the numbers about traffic that are not stored yet. */
  traffic(stored: StoredBatches): Promise<readonly CountBatch[]>
  /** Begins a graceful shutdown. */
  shutdown(): void
  /** Called when the control plane has sent its table or confirmed it. */
  confirm?(): void
  /** Whether a request may be answered. Without it, every one. */
  mayAsk?(request: IncomingMessage): Promise<boolean>
}

interface Reply {
  readonly status: number
  readonly body: object
  /** Runs after the response is sent. */
  readonly afterwards?: () => void
}

/**
 * Creates the server for the control plane, which is not yet listening. A unix socket is accessible
 * to its own user only. At a port, `mayAsk` decides.
 */
export function createControlServer(options: ControlOptions): Server {
  const table = tableKeeper(options)
  const answer = async (request: IncomingMessage, signal: AbortSignal): Promise<Reply> => {
    if (options.mayAsk && !(await options.mayAsk(request))) {
      return { status: 401, body: { message: 'the key of the control plane is missing or wrong' } }
    }
    switch (`${request.method} ${request.url}`) {
      case 'GET /health':
        return { status: 200, body: options.health() }
      case 'GET /routes':
        return { status: 200, body: options.routes.table }
      case 'PUT /routes':
        return table.apply(await readJson(request))
      case 'PATCH /routes':
        return table.change(await readJson(request))
      case 'POST /confirm':
        return table.confirm(await readJson(request))
      case 'PUT /tls':
        await options.tls.apply(parseTlsMaterial(await readJson(request, limits.tlsBytes)))
        return { status: 200, body: {} }
      case 'POST /tls':
        return confirmTls(options.tls, await readJson(request))
      case 'POST /drain':
        return drain(options, await readJson(request), signal)
      case 'POST /wakes':
        return wakes(options.waiting, await readJson(request), signal)
      case 'GET /activity':
        return { status: 200, body: { services: options.routes.activity(await options.front?.counts.tallies()) } }
      case 'GET /canaries':
        return { status: 200, body: { canaries: options.routes.canaries.counts() } }
      case 'POST /traffic':
        return { status: 200, body: { batches: await options.traffic(storedIn(await readJson(request))) } }
      case 'POST /lines':
        return { status: 200, body: { lines: options.lines.take() } }
      case 'POST /shutdown':
        return { status: 202, body: {}, afterwards: options.shutdown }
      default:
        return { status: 404, body: { message: `unknown request ${request.method} ${request.url}` } }
    }
  }
  return createServer((request, response) => {
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    answer(request, gone.signal)
      .catch((error: unknown): Reply => ({ status: 400, body: { message: describe(error) } }))
      .then((reply) => give(response, reply))
      .catch((error: unknown) => options.log.error('control answer failed', { error: describe(error) }))
  })
}

interface TableKeeper {
  /** Applies a table. It takes effect even if the disk cannot store it; `kept` reports that. */
  apply(body: unknown): Promise<Reply>
  /**
   * Applies changes, like `apply`, to the table with the version that they name. Otherwise answers
   * 409, and the whole table must be sent.
   */
  change(body: unknown): Promise<Reply>
  /**
   * Answers like `apply` if the table with the version of the body is applied and stored. Otherwise
   * the whole table must be sent.
   */
  confirm(body: unknown): Promise<Reply>
}

/** Creates what applies tables, one at a time. */
function tableKeeper({
  routes,
  waiting,
  visits,
  ports,
  front,
  log,
  save,
  confirm: confirmed,
}: ControlOptions): TableKeeper {
  let last: Promise<unknown> = Promise.resolve()
  let kept = true
  const apply = async (sent: RouteTable): Promise<Reply> => {
    const { version } = routes.table
    const table = keepUnchanged(routes.table, sent)
    const same = table.version === version && hasSameRoutes(table, routes.table)
    if (table.version < version || (table.version === version && !same)) {
      return { status: 409, body: { version, message: `table ${table.version} is not newer than table ${version}` } }
    }
    return same ? settle(table) : follow(table)
  }
  const follow = async (table: RouteTable, changes?: RouteChanges): Promise<Reply> => {
    routes.apply(table)
    waiting.look()
    visits.look()
    confirmed?.()
    const saved = keep(table, changes)
    try {
      await Promise.all([ports.look(), front?.follow()])
    } finally {
      kept = await saved
    }
    return applied()
  }
  const settle = async (table: RouteTable): Promise<Reply> => {
    confirmed?.()
    await Promise.all([ports.look(), front?.settle()])
    kept ||= await keep(table)
    return applied()
  }
  const keep = (table: RouteTable, changes?: RouteChanges): Promise<boolean> =>
    save(table, changes).then(
      () => true,
      (error: unknown) => {
        log.error('route table could not be stored on disk', { error: describe(error) })
        return false
      },
    )
  const change = async (changes: RouteChanges): Promise<Reply> => {
    const { version } = routes.table
    if (changes.from !== version || !kept) {
      return { status: 409, body: { version, message: `table ${changes.from} is not in effect or not stored` } }
    }
    return follow(changedTable(routes.table, changes), changes)
  }
  const confirm = async (version: unknown): Promise<Reply> => {
    const current = routes.table.version
    if (version !== current || !kept) {
      return { status: 409, body: { version: current, message: `table ${version} is not in effect or not stored` } }
    }
    confirmed?.()
    await Promise.all([ports.look(), front?.settle()])
    return applied()
  }
  const applied = (): Reply => ({
    status: 200,
    body: { version: routes.table.version, kept, ...(ports.taken.length > 0 && { taken: ports.taken }) },
  })
  const inTurn = (work: () => Promise<Reply>): Promise<Reply> => {
    const result = last.then(work)
    last = result.catch(() => {})
    return result
  }
  return {
    apply: async (body) => {
      const table = parseRouteTable(body)
      return inTurn(() => apply(table))
    },
    change: async (body) => {
      const changes = parseRouteChanges(body)
      return inTurn(() => change(changes))
    },
    confirm: async (body) => {
      const { version } = record(body, 'the request')
      return inTurn(() => confirm(version))
    },
  }
}

/** Answers 409 if the certificates with the mark of the body must be sent. */
function confirmTls({ mark }: SecureFront, body: unknown): Reply {
  return { status: record(body, 'the request')['mark'] === mark ? 200 : 409, body: {} }
}

async function drain({ routes, front }: ControlOptions, body: unknown, signal: AbortSignal): Promise<Reply> {
  const { endpoints, timeoutMs } = record(body, 'the request')
  if (typeof timeoutMs !== 'number' || !(timeoutMs >= 0 && timeoutMs < 2 ** 31)) {
    throw new Error('timeoutMs: milliseconds are expected')
  }
  const parsed = parseEndpoints(endpoints)
  const open = await Promise.all(
    [routes, ...(front ? [front.counts] : [])].map((one) => one.drain(parsed, timeoutMs, signal)),
  )
  return { status: 200, body: { open: open.reduce((sum, count) => sum + count, 0) } }
}

async function wakes(waiting: Waiting, body: unknown, signal: AbortSignal): Promise<Reply> {
  const { sequence, timeoutMs } = record(body, 'the request')
  if (typeof sequence !== 'number') throw new Error('sequence: a number is expected')
  if (typeof timeoutMs !== 'number' || !(timeoutMs >= 0 && timeoutMs <= limits.wakesMs)) {
    throw new Error(`timeoutMs: milliseconds up to ${limits.wakesMs} are expected`)
  }
  return { status: 200, body: await waiting.wakes(sequence, timeoutMs, signal) }
}

function storedIn(body: unknown): StoredBatches {
  const { stored } = record(body, 'the request')
  const numbers = Object.entries(record(stored, 'stored')).flatMap(([source, batch]) =>
    typeof batch === 'number' ? [[source, batch] as const] : [],
  )
  return Object.fromEntries(numbers)
}

async function readJson(request: IncomingMessage, most = limits.tableBytes): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue
    size += chunk.length
    if (size > most) throw new Error(`the request is larger than ${most} bytes`)
    chunks.push(chunk)
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}

function give(response: ServerResponse, { status, body, afterwards }: Reply): void {
  if (afterwards) response.once('close', afterwards)
  const text = JSON.stringify(body)
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
  response.end(text)
}

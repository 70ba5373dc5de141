import type { Operation } from '@quayside/contract'
import type { FastifyReply } from 'fastify'
import { type AuditEntry, recordChange, recordChangeWith } from '../audit/index.ts'
import { type Database, outsideUnit, unitOfWork } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import type { Plans } from '../rollout/index.ts'
import { insertRecordChange } from '../state-changes/index.ts'
import type { Vault } from '../vault/index.ts'
import type { Handlers } from './call.ts'
import { type ChangingOperation, entryOf, placeOf } from './change-entry.ts'
import { changeOf } from './change-events.ts'
import { etagOf, readTags, requireCurrent, type Tags } from './conditions.ts'
import { createDryRun, isDryRun } from './dry-run.ts'
import { type KeptReply, keepReply, type RequestKey, takeKey } from './kept-replies.ts'
import { lockPath } from './path-lock-store.ts'
import { createReader, type Reader } from './reader.ts'
import { type AnyCall, type Asked, contentTypeOf, emptyStatus, type Handle, ownerOf, serialize } from './reply.ts'
import { readKey } from './request-key.ts'

export interface ChangeOptions {
  readonly database: Database
  readonly clock: Clock
  readonly vault: Vault
  readonly handlers: Handlers
  readonly plans: Plans
}

/**
 * Handlers that accept a deployment of one service in a single statement, which also writes the
 * audit entry. The round trips of a transaction would take longer than the statement itself.
 */
const accepting: ReadonlySet<string> = new Set<keyof Handlers>([
  'deployService',
  'redeployService',
  'stopService',
  'restartService',
  'uninstallService',
])

/**
 * Creates the function that answers a changing operation. The handler, the audit entry, the kept
 * reply and the comparison with If-Match are one transaction.
 */
export function createChanger(operation: ChangingOperation, handle: Handle, options: ChangeOptions) {
  const reader = createReader(operation, options.handlers)
  const dryRun = createDryRun(operation, options)
  const mayStandAlone = accepting.has(operation.handler)
  return async (asked: Asked): Promise<FastifyReply> => {
    const { request, reply, call } = asked
    if (dryRun && isDryRun(operation, call)) return dryRun(call, reply, () => handle(call))
    const key = readKey(operation, request, call)
    const tags = readTags(request.headers, 'if-match')
    if (tags && !reader) throw new AppError('invalid', 'If-Match: this address has no ETag. Send it without.')
    if (mayStandAlone && !key && !changesFirst(call))
      return sendReply(operation, reply, await acceptAlone(operation, handle, options, asked))
    const unit = () => changeInUnit({ operation, handle, options, reader, key, tags }, asked)
    const { replayed, ...answer } = await unitOfWork(options.database, unit, {
      clock: options.clock,
      owner: ownerOf(call),
    })
    if (replayed) reply.header('idempotency-replayed', 'true')
    return sendReply(operation, reply, answer)
  }
}

/**
 * Whether the settings are written before acceptance: a deployment of another version does that.
 */
const changesFirst = ({ body }: AnyCall): boolean => Boolean(Object(body).image_tag || Object(body).chart_version)

interface Plan {
  readonly operation: ChangingOperation
  readonly handle: Handle
  readonly options: ChangeOptions
  readonly reader: Reader | undefined
  readonly key: RequestKey | undefined
  readonly tags: Tags | undefined
}

async function changeInUnit(plan: Plan, asked: Asked): Promise<KeptReply & { readonly replayed: boolean }> {
  const { operation, handle, options, key } = plan
  const { database } = options
  const kept = key && (await takeKey(options, database, key))
  if (kept) return { ...kept, replayed: true }
  const { call, former } = await readFormer(plan, asked)
  const result = await handle(call)
  const body = result === undefined ? undefined : serialize(operation, asked.reply, result)
  const status = result === undefined ? emptyStatus(operation) : operation.status
  const entry = entryOf(operation, options, { ...asked, call }, { body, former, place: await placeOf(database, call) })
  if (entry) await recordAndReport(database, entry)
  if (key) await keepReply(options, database, key, { status, body, organizationId: organizationOf(entry, call) })
  return { status, body, replayed: false }
}

/**
 * Reads the object before the change if a GET of the same address returns it, and compares it with
 * If-Match.
 */
async function readFormer(plan: Plan, asked: Asked): Promise<{ call: AnyCall; former: string | undefined }> {
  const { operation, options, reader, tags } = plan
  if (!reader) return { call: asked.call, former: undefined }
  await lockPath(options.database, asked.request.url.split('?')[0]?.toLowerCase() ?? '')
  // Another request may have changed the target before this one got the lock.
  const call = tags ? { ...asked.call, ...(await outsideUnit(asked.reload)) } : asked.call
  const former = await reader.read(call, asked.reply).catch((error: unknown) => {
    if (tags || !(error instanceof AppError)) throw error
    return undefined
  })
  if (tags) requireCurrent(tags, etagOf(former ?? ''))
  return { call, former: operation.contentType || reader.isText ? undefined : former }
}

async function acceptAlone(
  operation: ChangingOperation,
  handle: Handle,
  options: ChangeOptions,
  asked: Asked,
): Promise<KeptReply> {
  const state = { recorded: false }
  const result = await handle({
    ...asked.call,
    record: (sql, accepted, change) => {
      const entry = entryOf(operation, options, asked, { body: JSON.stringify(change) })
      if (!entry) throw new Error('the audit entry of a service has no organization')
      state.recorded = true
      return recordChangeWith(sql, entry, accepted)
    },
  })
  const body = result === undefined ? undefined : serialize(operation, asked.reply, result)
  const entry = state.recorded ? undefined : entryOf(operation, options, asked, { body })
  if (entry) await recordAndReport(options.database, entry)
  return { status: result === undefined ? emptyStatus(operation) : operation.status, body }
}

/** Writes the audit entry, and the change that the stream of the organization reports. */
async function recordAndReport(database: Database, entry: AuditEntry): Promise<void> {
  await recordChange(database, entry)
  const change = changeOf(entry)
  if (change) await insertRecordChange(database, change)
}

/** Returns the organization whose key seals the kept reply. */
function organizationOf(entry: AuditEntry | undefined, { caller }: AnyCall): string {
  const id = entry?.organization_id ?? caller.organizationId
  if (id !== '') return id
  throw new AppError('invalid', 'Idempotency-Key: this request changes no organization. Send it without.')
}

function sendReply(operation: Operation, reply: FastifyReply, { status, body }: KeptReply): FastifyReply {
  if (body === undefined) return reply.code(status).send()
  return reply.code(status).type(contentTypeOf(operation)).send(body)
}

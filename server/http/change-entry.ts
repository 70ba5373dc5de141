import type { Operation } from '@quayside/contract'
import { type AuditEntry, findPlace } from '../audit/index.ts'
import type { Database } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { parseId } from '../lib/id.ts'
import { auditEntry, type Change } from './audit-entry.ts'
import type { AnyCall, Asked } from './reply.ts'

export type ChangingOperation = Operation & Pick<Change['operation'], 'event'>

/** Returns the audit entry of a change with `body` as its reply. */
export function entryOf(
  operation: ChangingOperation,
  { clock }: { readonly clock: Clock },
  { call, request }: Asked,
  known: {
    readonly body: string | undefined
    readonly former?: string | undefined
    readonly place?: Change['place']
  },
): AuditEntry | undefined {
  const { body, former, place } = known
  return auditEntry({
    operation,
    call,
    place,
    reply: body === undefined || operation.contentType ? undefined : JSON.parse(body),
    former: former === undefined ? undefined : JSON.parse(former),
    requestId: request.id,
    userAgent: request.headers['user-agent'],
    now: clock.now(),
  })
}

/** The fields of bodies and queries that name the place of a change if the path does not. */
const parents = [
  'variable_parent_id',
  'alias_parent_id',
  'override_parent_id',
  'service_id',
  'environment_id',
  'project_id',
]

/** Finds the place of a change if the path does not name it. */
export async function placeOf(database: Database, { target, body, query, words }: AnyCall): Promise<Change['place']> {
  const organizationId = parseId(words['organizationId'] ?? '')
  if (!target && organizationId) return { organization: { id: organizationId, name: '' } }
  const given = { ...Object(query), ...Object(body) }
  const name = parents.find((parent) => typeof given[parent] === 'string')
  const isElsewhere = target === undefined || name?.endsWith('_parent_id')
  return name && isElsewhere ? findPlace(database, given[name]) : undefined
}

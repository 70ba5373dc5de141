import type { Operation } from '@quayside/contract'
import { type AuditEvent, auditTypeOf } from '@quayside/contract/audit.ts'
import type { Caller } from '../access/index.ts'
import type { AuditEntry, Place } from '../audit/index.ts'
import { parseId } from '../lib/id.ts'
import type { Json } from '../lib/json.ts'
import type { Client } from './call.ts'
import { changeText } from './without-secrets.ts'

type Row = Readonly<Record<string, unknown>>

/** A change, as known once its handler has answered. */
export interface Change {
  readonly operation: Pick<Operation, 'target' | 'kind'> & { readonly event: AuditEvent }
  readonly call: {
    readonly caller: Pick<Caller, 'id' | 'name' | 'organizationId'>
    readonly target: Row | undefined
    readonly ids: readonly string[]
    readonly body?: unknown
    readonly query?: unknown
    readonly client: Pick<Client, 'origin'>
  }
  /** The place of the change if the query or the body names it instead of the path. */
  readonly place: Place | undefined
  readonly reply: Json | undefined
  /** The object before the change. */
  readonly former: Json | undefined
  readonly requestId: string
  readonly userAgent: string | undefined
  readonly now: Date
}

interface Named {
  readonly id: string | null
  readonly name: string
}

/** Pure: returns the audit entry of a change. Undefined if it belongs to no organization. */
export function auditEntry(change: Change): AuditEntry | undefined {
  const { operation, call, reply, former } = change
  const place = change.place ?? placeOf(operation.target, call.target)
  const type = targetType(operation, place)
  const target = targetOf(change, type, place)
  const organizationId =
    place.organization?.id ?? (type === 'ORGANIZATION' ? target.id : null) ?? parseId(call.caller.organizationId)
  if (!organizationId) return undefined
  const project = type === 'PROJECT' ? target : place.project
  const environment = type === 'ENVIRONMENT' ? target : place.environment
  return {
    organization_id: organizationId,
    created_at: change.now,
    event_type: auditTypeOf(operation.event, call),
    target_type: type,
    target_id: target.id,
    target_name: target.name,
    sub_target_type: operation.event.sub ?? null,
    project_id: project?.id ?? null,
    project_name: project?.name || null,
    environment_id: environment?.id ?? null,
    environment_name: environment?.name || null,
    origin: call.client.origin,
    triggered_by: call.caller.name,
    caller: call.caller.id,
    user_agent: cleaned(change.userAgent),
    change: changeText(reply ?? givenIds(call.body)),
    original_change: former === undefined ? null : changeText(former),
    request_id: change.requestId,
  }
}

/** Returns a loaded target and the objects above it. */
function placeOf(target: Operation['target'], row: Row | undefined): Place {
  if (!row) return {}
  const own = { id: idOf(row['id']) ?? '', name: textOf(row['name']) }
  const above = (noun: string): { id: string; name: string } | undefined => {
    const id = idOf(row[`${noun}_id`])
    return id === null ? undefined : { id, name: textOf(row[`${noun}_name`]) }
  }
  const service = target === 'service' ? own : above('service')
  const kind = row[target === 'service' ? 'kind' : 'service_kind']
  return {
    organization: target === 'organization' ? own : above('organization'),
    project: target === 'project' ? own : above('project'),
    environment: target === 'environment' ? own : above('environment'),
    cluster: target === 'cluster' ? own : undefined,
    service: service && { ...service, kind: textOf(kind) },
  }
}

/**
 * Returns the type of the target. `SERVICE` becomes the kind of the service, or the level of an
 * object that can belong to several levels.
 */
function targetType({ event, kind }: Change['operation'], { service, environment, project }: Place): string {
  if (event.target !== 'SERVICE') return event.target
  const known = service?.kind || kind
  if (known) return known.toUpperCase()
  return environment ? 'ENVIRONMENT' : project ? 'PROJECT' : 'ORGANIZATION'
}

/**
 * Returns the target of the change: the object that the path names, if the event is about it.
 * Otherwise the object in the reply, or the previous one.
 */
function targetOf({ operation, call, reply, former }: Change, type: string, place: Place): Named {
  const { event } = operation
  const isNew = (event.type === 'CREATE' || event.type === 'CLONE') && event.sub === undefined
  const owners: Readonly<Record<string, Named | undefined>> = {
    ORGANIZATION: place.organization,
    PROJECT: place.project,
    ENVIRONMENT: place.environment,
    CLUSTER: place.cluster,
  }
  const owner = type in owners ? owners[type] : event.target === 'SERVICE' ? place.service : undefined
  if (owner && !isNew) return { id: owner.id, name: cut(owner.name) }
  const [after, before] = [Object(reply), Object(former)]
  const name = [after.name, after.key, before.name, before.key].find((text) => typeof text === 'string')
  const id = idOf(after.id) ?? parseId(call.ids.at(-1) ?? '') ?? idOf(Object(call.body).user_id)
  return id
    ? { id, name: cut(textOf(name)) }
    : { id: idOf(call.target?.['id']), name: cut(textOf(call.target?.['name'])) }
}

/**
 * Returns the ids that the body names. They are recorded if the operation has no reply. Nothing
 * else of a request is recorded.
 */
function givenIds(body: unknown): Json {
  const ids = Object.entries(Object(body)).filter(([name, value]) =>
    /_id$/.test(name) ? typeof value === 'string' : /_ids/.test(name) && Array.isArray(value),
  )
  // The filter leaves strings and lists of a JSON body.
  return Object.fromEntries(ids) as Json
}

const idOf = (value: unknown): string | null => (typeof value === 'string' ? (parseId(value) ?? null) : null)
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const cut = (text: string): string => text.slice(0, 255)

/** Returns a user agent as one short line. */
function cleaned(text: string | undefined): string | null {
  const line = (text ?? '').replace(/[^\x20-\x7e]+/g, ' ').trim()
  return line === '' ? null : line.slice(0, 256)
}

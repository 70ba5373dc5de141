import type { Database } from '../database/index.ts'
import { type EventRow, type EventFilter as Filter, listEvents, listTargets } from './event-store.ts'
import { readMoment } from './moment.ts'
import { cursorOf, pageOf, readCursor } from './page.ts'

/** Filters of targets, by their API names. */
export interface TargetFilter {
  readonly fromTimestamp?: string
  readonly toTimestamp?: string
  readonly eventType?: string
  readonly targetType?: string
  readonly triggeredBy?: string
  readonly origin?: string
  readonly projectId?: string
  readonly environmentId?: string
  readonly targetLevelToFetch?: 'PROJECT' | 'ENVIRONMENT'
}

/** Filters of events, by their API names. */
export interface EventFilter extends Omit<TargetFilter, 'projectId' | 'environmentId' | 'targetLevelToFetch'> {
  readonly pageSize?: number
  readonly continueToken?: string
  readonly stepBackToken?: string
  readonly targetId?: string
  readonly subTargetType?: string
  readonly serviceProjectId?: string
  readonly serviceEnvironmentId?: string
}

const usualPage = 10
const levels = { PROJECT: 'project', ENVIRONMENT: 'environment' } as const

/** Reads the audit log of an organization. */
export function createAudit({ database, publicUrl }: { readonly database: Database; readonly publicUrl: string }) {
  return {
    /**
     * Returns a page of events, newest first, with the addresses of the pages before and after it.
     */
    async events(organizationId: string, query: EventFilter) {
      const { pageSize: limit = usualPage, continueToken, stepBackToken, ...rest } = query
      const newerThan = readCursor('stepBackToken', stepBackToken)
      const olderThan = newerThan ? undefined : readCursor('continueToken', continueToken)
      const filter = filterOf({ ...rest, projectId: rest.serviceProjectId, environmentId: rest.serviceEnvironmentId })
      const found = await listEvents(database, organizationId, filter, { newerThan, olderThan, limit: limit + 1 })
      const page = pageOf(found, limit, newerThan ? 'newer' : olderThan ? 'older' : 'first')
      const address = (name: string, row: EventRow | undefined): string | undefined => {
        if (!row) return undefined
        const search = new URLSearchParams({ ...rest, pageSize: String(limit), [name]: cursorOf(row) })
        return `${publicUrl}/organization/${organizationId}/events?${search}`
      }
      const previous = page.newer ? address('stepBackToken', page.rows[0]) : undefined
      const next = page.older ? address('continueToken', page.rows.at(-1)) : undefined
      return {
        links: { ...(previous ? { previous } : {}), ...(next ? { next } : {}) },
        organization_id: organizationId,
        organization_max_limit_reached: false,
        events: page.rows.map((row) => ({ ...row, timestamp: row.created_at })),
      }
    },

    /** Lists the targets of events, or their projects or environments. */
    async targets(organizationId: string, query: TargetFilter) {
      const { targetLevelToFetch: level } = query
      const targets = await listTargets(database, organizationId, filterOf(query), level ? levels[level] : 'target')
      return { targets: [...targets] }
    },
  }
}

function filterOf(
  query: Omit<EventFilter & TargetFilter, 'projectId' | 'environmentId'> & {
    readonly projectId?: string | undefined
    readonly environmentId?: string | undefined
  },
): Filter {
  return {
    from: readMoment('fromTimestamp', query.fromTimestamp),
    to: readMoment('toTimestamp', query.toTimestamp),
    event_type: query.eventType,
    target_type: query.targetType,
    target_id: query.targetId,
    sub_target_type: query.subTargetType,
    triggered_by: query.triggeredBy,
    origin: query.origin,
    project_id: query.projectId,
    environment_id: query.environmentId,
  }
}

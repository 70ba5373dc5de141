import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { type AuditEvent, type AuditSearch, auditEvents, tokenIn } from '../../api/reads-audit.ts'
import { Empty, Page } from '../../ui/Page.tsx'
import { wordsOf } from '../../ui/State.tsx'
import { Table } from '../../ui/Table.tsx'
import { exactTime } from '../../ui/When.tsx'
import { AuditChange } from './AuditChange.tsx'
import { AuditFilters } from './AuditFilters.tsx'
import styles from './Settings.module.css'

const columns = ['Time', 'Person', 'Event', 'Target', 'Change']

/** Every change in an organization, newest first. */
export function AuditPage() {
  const { organizationId } = useParams({ from: '/organizations/$organizationId' })
  const search = useSearch({ from: '/organizations/$organizationId/settings/audit' })
  const { data } = useSuspenseQuery(auditEvents(organizationId, search))
  const navigate = useNavigate()
  const choose = (next: AuditSearch) =>
    void navigate({ to: '/organizations/$organizationId/settings/audit', params: { organizationId }, search: next })
  return (
    <Page title="Audit log">
      <AuditFilters key={JSON.stringify(search)} search={search} onChoose={choose} />
      {data.events.length === 0 ? (
        <Empty>No event fits.</Empty>
      ) : (
        <Table label="Audit events" columns={columns}>
          {data.events.map((event) => (
            <Row key={event.id} event={event} />
          ))}
        </Table>
      )}
      <Pages {...{ organizationId, search, links: data.links }} />
    </Page>
  )
}

const Row = ({ event }: { readonly event: AuditEvent }) => (
  <tr>
    <td>
      <time dateTime={event.timestamp}>{exactTime(event.timestamp)}</time>
    </td>
    <td>
      {event.triggered_by}
      <div className={styles['quiet']}>{wordsOf(event.origin)}</div>
    </td>
    <td>
      {wordsOf(event.event_type)}
      {event.sub_target_type && <div className={styles['quiet']}>{wordsOf(event.sub_target_type)}</div>}
    </td>
    <td>
      {event.target_name}
      <div className={styles['quiet']}>
        {[wordsOf(event.target_type), event.project_name, event.environment_name].filter(Boolean).join(', ')}
      </div>
    </td>
    <td>
      <AuditChange before={event.original_change} after={event.change} />
    </td>
  </tr>
)

interface PagesProps {
  readonly organizationId: string
  readonly search: AuditSearch
  readonly links: { readonly next?: string | undefined; readonly previous?: string | undefined }
}

function Pages({ organizationId, search, links }: PagesProps) {
  const { next: _next, previous: _previous, ...filters } = search
  const next = tokenIn(links.next, 'continueToken')
  const previous = tokenIn(links.previous, 'stepBackToken')
  const there = { to: '/organizations/$organizationId/settings/audit', params: { organizationId } } as const
  return (
    <nav className={styles['pages']} aria-label="Pages">
      {previous !== undefined && (
        <Link {...there} search={{ ...filters, previous }}>
          Newer
        </Link>
      )}
      {next !== undefined && (
        <Link {...there} search={{ ...filters, next }}>
          Older
        </Link>
      )}
    </nav>
  )
}

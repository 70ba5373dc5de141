import type { Database } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { createSharedCall } from '../lib/shared-call.ts'
import { EndedCounter, type EndedDeployments } from './ended-deployments.ts'
import { type Family, truncated } from './exposition.ts'
import {
  countStates,
  countUnlistedExpiries,
  type DatabaseFigures,
  type Figure,
  listEnded,
  listExpiries,
  readDatabaseFigures,
} from './metrics-store.ts'

/**
 * Returns the families about the platform. Deployments are counted since the start of this process,
 * each once, so that a deleted environment does not make the counter fall. Callers at the same time
 * share a reading, because two would count the same deployments.
 */
export function createPlatformFamilies({ database, clock }: { readonly database: Database; readonly clock: Clock }) {
  const ended = new EndedCounter(clock, (from) => listEnded(database, from))
  const read = createSharedCall(async (): Promise<readonly Family[]> => {
    return [
      ...deploymentFamilies(await ended.count()),
      ...stateFamilies(await countStates(database)),
      ...databaseFamilies(await readDatabaseFigures(database)),
      certificateFamily(await listExpiries(database)),
      truncated('certificates', await countUnlistedExpiries(database)),
    ]
  })
  return () => read(new AbortController().signal)
}

/** Pure: returns the families about deployments that have ended. */
function deploymentFamilies(ended: readonly EndedDeployments[]): readonly Family[] {
  const labelled = ended.map(({ action, status, ...rest }) => ({ labels: { action, status }, ...rest }))
  return [
    {
      name: 'quayside_deployments_total',
      help: 'Deployment requests that ended since the start of the server.',
      type: 'counter',
      samples: labelled.map(({ labels, count: value }) => ({ labels, value })),
    },
    {
      name: 'quayside_deployment_duration_seconds',
      help: 'Time from the begin to the end of these requests.',
      type: 'summary',
      samples: labelled.flatMap(({ labels, count, seconds }) => [
        { labels, suffix: '_sum', value: seconds },
        { labels, suffix: '_count', value: count },
      ]),
    },
  ]
}

const stateHelps = {
  deployment: ['quayside_deployment_requests', 'Deployment requests that wait or run.', 'status'],
  workflow: ['quayside_workflows', 'Work of the platform that waits, runs or is parked.', 'state'],
  service: ['quayside_services', 'Services by their state.', 'state'],
  backup: ['quayside_backups', 'Backups by their state.', 'state'],
} as const

const stateFamilies = (figures: readonly Figure[]): readonly Family[] =>
  Object.entries(stateHelps).map(([figure, [name, help, label]]) => ({
    name,
    help,
    type: 'gauge' as const,
    samples: figures
      .filter((one) => one.figure === figure)
      .map(({ label: text, value }) => ({ labels: { [label]: text }, value })),
  }))

const databaseFamilies = ({ bytes, connections, commits, rollbacks }: DatabaseFigures): readonly Family[] => [
  { name: 'quayside_database_size_bytes', help: 'Size of the database.', type: 'gauge', samples: [{ value: bytes }] },
  {
    name: 'quayside_database_connections',
    help: 'Connections to the database.',
    type: 'gauge',
    samples: [{ value: connections }],
  },
  {
    name: 'quayside_database_transactions_total',
    help: 'Transactions of the database.',
    type: 'counter',
    samples: [
      { labels: { outcome: 'commit' }, value: commits },
      { labels: { outcome: 'rollback' }, value: rollbacks },
    ],
  },
]

const certificateFamily = (hosts: Awaited<ReturnType<typeof listExpiries>>): Family => ({
  name: 'quayside_certificate_expiry_timestamp_seconds',
  help: 'When the certificate of a host expires.',
  type: 'gauge',
  samples: hosts.map(({ host, not_after }) => ({ labels: { host }, value: not_after.getTime() / 1000 })),
})

import { join } from 'node:path'
import type { Place } from './place.ts'

export interface Sizes {
  /** False only for data that may be lost: the tests' databases. */
  readonly durable: boolean
  readonly maxConnections: number
  readonly sharedBuffersMb: number
}

/**
 * Returns the text of postgresql.conf, which every start writes. Small and quiet: one machine, few
 * connections, no replication, no parallel workers. Values of rows stay out of the log: it contains
 * no details, statements or parameters.
 */
export function settingsText(place: Place, sizes: Sizes): string {
  const settings: Readonly<Record<string, string | number | boolean>> = {
    listen_addresses: '',
    unix_socket_directories: place.sockets,
    unix_socket_permissions: '0700',
    hba_file: join(place.home, 'pg_hba.conf'),
    max_connections: sizes.maxConnections,
    shared_buffers: `${sizes.sharedBuffersMb}MB`,
    maintenance_work_mem: '32MB',
    // Segments are files of the cluster, so a start removes those of a killed PostgreSQL.
    dynamic_shared_memory_type: 'mmap',
    huge_pages: false,
    max_wal_size: '256MB',
    min_wal_size: '32MB',
    wal_level: 'replica',
    max_wal_senders: 0,
    max_replication_slots: 0,
    max_logical_replication_workers: 0,
    max_sync_workers_per_subscription: 0,
    max_worker_processes: 0,
    max_parallel_workers: 0,
    max_parallel_workers_per_gather: 0,
    max_parallel_maintenance_workers: 0,
    autovacuum_worker_slots: 1,
    autovacuum_max_workers: 1,
    io_method: 'sync',
    jit: false,
    fsync: sizes.durable,
    full_page_writes: sizes.durable,
    synchronous_commit: sizes.durable,
    idle_in_transaction_session_timeout: '60s',
    client_connection_check_interval: '10s',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_line_prefix: '%m [%p] ',
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_parameter_max_length: 0,
    log_checkpoints: false,
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${quote(value)}`)
  return [
    '# Written by Quayside at every start. Put your own settings into postgresql.local.conf beside this file.',
    ...lines,
    `include_if_exists = ${quote(join(place.home, 'postgresql.local.conf'))}`,
    '',
  ].join('\n')
}

/**
 * The text of pg_hba.conf: everyone who can enter the socket's directory has access, nobody else.
 */
export const accessText = '# Written by Quayside at every start.\nlocal all all trust\n'

const quote = (value: string | number | boolean): string =>
  typeof value === 'string'
    ? `'${value.replaceAll("'", "''")}'`
    : value === true
      ? 'on'
      : value === false
        ? 'off'
        : String(value)

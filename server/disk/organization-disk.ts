import type { Database, Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import { grows } from './declared-sizes.ts'
import {
  claimedOf,
  claimReason,
  excessReason,
  limitOf,
  type OrganizationBytes,
  type OrganizationFigures,
  organizationParts,
  sumOf,
} from './organization-limit.ts'
import { type Measurement, recordOrganizations } from './organization-record.ts'
import { lockClaims, readFigures } from './organization-store.ts'

/** After a rejection the disk is measured again if the last measurement is older. */
const freshMs = 2 * 60_000

export interface OrganizationDiskOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
  /** The operator's limit. 0 means no limit, undefined half of the disk. */
  readonly limitBytes: number | undefined
  /** Returns the bytes of the git host's repositories by organization. */
  readonly repositorySizes: (signal: AbortSignal) => Promise<ReadonlyMap<string, number>>
  /** Schedules an early measurement of the disk. */
  readonly measureSoon: () => void
}

/**
 * Keeps each organization's disk use within the limit. Rejections use neither the engine nor the
 * file system.
 */
export interface OrganizationDisk {
  /** Whether the operator limits what organizations may take. */
  readonly isLimited: boolean
  /**
   * Stores a measurement and stops growing services of organizations far beyond their limit.
   * Returns false if one of these services is being deployed.
   */
  record(measurement: Measurement, signal: AbortSignal): Promise<boolean>
  /** Returns why an organization may take nothing more. Undefined if it may. */
  refusal(organizationId: string, sql?: Sql): Promise<string | undefined>
  /**
   * Throws 409 if stored settings declare more than the organization may take. Accepts settings
   * that enlarge nothing.
   */
  claim(sql: Sql, organizationId: string, change: { readonly from?: object; readonly to: object }): Promise<void>
  /**
   * Returns the bytes that a push may add, given the current size of repositories, and the reason
   * if it may add none.
   */
  spare(organizationId: string, repositories: number): Promise<{ readonly bytes: number; readonly full: string }>
  /** Returns the organization's disk use and limit in API format. */
  usage(organizationId: string): Promise<OrganizationUsage>
}

export interface OrganizationUsage {
  readonly measured_at: Date | null
  readonly bytes: number
  readonly claimed_bytes: number
  readonly limit_bytes: number | null
  readonly parts: readonly { readonly name: Uppercase<keyof OrganizationBytes>; readonly bytes: number }[]
}

export function createOrganizationDisk(options: OrganizationDiskOptions): OrganizationDisk {
  const { database, clock, limitBytes } = options
  const read = async (sql: Sql, id: string) => {
    const figures = await readFigures(sql, id)
    return { figures, limit: limitOf(limitBytes, figures.disk_bytes) }
  }
  const refused = (figures: OrganizationFigures, reason: string | undefined): string | undefined => {
    const age = clock.now().getTime() - (figures.measured_at?.getTime() ?? 0)
    if (reason !== undefined && age > freshMs) options.measureSoon()
    return reason
  }
  return {
    isLimited: limitBytes !== 0,
    record: (found, signal) => recordOrganizations(options, found, signal),
    async refusal(organizationId, sql = database) {
      const { figures, limit } = await read(sql, organizationId)
      return refused(figures, excessReason(figures, limit))
    },
    async claim(sql, organizationId, { from, to }) {
      if (limitBytes === 0 || !grows(from, to)) return
      await lockClaims(sql, organizationId)
      const { figures, limit } = await read(sql, organizationId)
      const reason = refused(figures, claimReason(figures, limit))
      if (reason !== undefined) throw new AppError('conflict', reason)
    },
    async spare(organizationId, repositories) {
      const { figures, limit } = await read(database, organizationId)
      const now = { ...figures, repositories }
      // `limit - 1` yields a reason as soon as no byte is left.
      const full = refused(figures, excessReason(now, limit === undefined ? undefined : limit - 1)) ?? ''
      return { bytes: limit === undefined ? Number.MAX_SAFE_INTEGER : Math.max(0, limit - sumOf(now)), full }
    },
    async usage(organizationId) {
      const { figures, limit } = await read(database, organizationId)
      return {
        measured_at: figures.measured_at,
        bytes: sumOf(figures),
        claimed_bytes: claimedOf(figures),
        limit_bytes: limit ?? null,
        // The API uses the names of the parts in upper case.
        parts: organizationParts.map((part) => ({
          name: part.toUpperCase() as Uppercase<typeof part>,
          bytes: figures[part],
        })),
      }
    },
  }
}

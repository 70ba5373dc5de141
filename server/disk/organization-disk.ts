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

/** A refusal has the disk measured again if the last measurement is older. */
const freshMs = 2 * 60_000

export interface OrganizationDiskOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
  /** What the operator set: 0 for no limit; undefined: half of the disk. */
  readonly limitBytes: number | undefined
  /** Bytes of the repositories of the git host, by organization. */
  readonly repositorySizes: (signal: AbortSignal) => Promise<ReadonlyMap<string, number>>
  /** Has the disk measured without waiting for the next time. */
  readonly measureSoon: () => void
}

/**
 * Keeps what each organization takes on the disk within one limit. Refusals ask neither the engine
 * nor the file system.
 */
export interface OrganizationDisk {
  /**
   * Stores a measurement, and stops growing services of organizations far beyond their limit.
   * Returns false if one of them is being deployed.
   */
  record(measurement: Measurement, signal: AbortSignal): Promise<boolean>
  /** Returns why an organization may take nothing more; undefined if it may. */
  refusal(organizationId: string, sql?: Sql): Promise<string | undefined>
  /**
   * Throws 409 if settings that are written already declare more than the organization may take.
   * Settings that enlarge nothing pass.
   */
  claim(sql: Sql, organizationId: string, change: { readonly from?: object; readonly to: object }): Promise<void>
  /**
   * Returns how many bytes a push may bring, by what repositories take now, and why it may bring
   * none.
   */
  spare(organizationId: string, repositories: number): Promise<{ readonly bytes: number; readonly full: string }>
  /** Returns what the organization takes and may take, as the API answers it. */
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
      // Without a byte left, there is a reason.
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
        // The words of the API are those of the parts.
        parts: organizationParts.map((part) => ({
          name: part.toUpperCase() as Uppercase<typeof part>,
          bytes: figures[part],
        })),
      }
    },
  }
}

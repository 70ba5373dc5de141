const gibibyte = 1024 ** 3

/** What one organization takes on the disks of engine and server, in bytes. */
export interface OrganizationBytes {
  readonly volumes: number
  readonly layers: number
  readonly images: number
  readonly backups: number
  readonly repositories: number
  readonly logs: number
}

/** The same with what decides about the limit. */
export interface OrganizationFigures extends OrganizationBytes {
  /** Null before the first measurement. */
  readonly measured_at: Date | null
  /** The volumes if each took its declared size at least. */
  readonly declared_volumes: number
  /** The size of the engine's disk; null before the first measurement. */
  readonly disk_bytes: number | null
}

/** In the order in which people read them. */
const partNames = {
  volumes: 'volumes',
  layers: 'writable layers',
  images: 'built images',
  backups: 'backups',
  repositories: 'repositories',
  logs: 'logs',
} as const satisfies Record<keyof OrganizationBytes, string>
export const organizationParts = Object.keys(partNames) as readonly (keyof OrganizationBytes)[]

/** Pure: the sum of all parts. */
export const sumOf = (bytes: OrganizationBytes): number => organizationParts.reduce((sum, part) => sum + bytes[part], 0)

/** Pure: the sum if each volume took its declared size at least. */
export const claimedOf = (figures: OrganizationFigures): number =>
  sumOf({ ...figures, volumes: figures.declared_volumes })

/**
 * Pure: the limit of each organization; undefined for none. `setting` is what the operator set: 0
 * for no limit, undefined for half of the disk.
 */
export function limitOf(setting: number | undefined, diskBytes: number | null): number | undefined {
  if (setting === undefined) return diskBytes === null ? undefined : Math.floor(diskBytes / 2)
  return setting === 0 ? undefined : setting
}

/** Pure: why an organization may take nothing more; undefined if it may. */
export function excessReason(bytes: OrganizationBytes, limit: number | undefined): string | undefined {
  if (limit === undefined || sumOf(bytes) <= limit) return undefined
  return `The organization takes ${takenText(bytes)}, and its limit is ${inGiB(limit)} GiB. ${remedy}`
}

/** Pure: why a declared size is refused; undefined if it fits. */
export function claimReason(figures: OrganizationFigures, limit: number | undefined): string | undefined {
  if (limit === undefined || claimedOf(figures) <= limit) return undefined
  const text = takenText({ ...figures, volumes: figures.declared_volumes })
  return (
    `storage: with this size the organization could take ${text}, and its limit is ${inGiB(limit)} GiB. ` +
    `Volumes count with their declared size. Choose a smaller size. ${remedy}`
  )
}

/** Beyond this many times its limit, an organization's growing services are stopped at once. */
const atOnce = 1.5
/**
 * Beyond this many times its limit, they are stopped when two measurements in a row have found
 * that.
 */
const atSecond = 1.1

/** Pure: what a measurement means. `over`: the next one decides. */
export function judgeOrganization(
  sum: number,
  limit: number | undefined,
  wasOver: boolean,
): 'within' | 'over' | 'stop' {
  if (limit === undefined || sum <= limit * atSecond) return 'within'
  return wasOver || sum > limit * atOnce ? 'stop' : 'over'
}

/** Pure: the reason for which a growing service was stopped. */
export const stopReason = (bytes: OrganizationBytes, limit: number, grown: number): string =>
  `It was stopped: its organization takes ${takenText(bytes)}, its limit is ${inGiB(limit)} GiB, and this ` +
  `service grew by ${inGiB(grown)} GiB. ${remedy} Then deploy again.`

const remedy =
  'Delete services, images, backups or repositories that nobody needs, or ask the operator for more. The ' +
  'disk is measured again within minutes.'

const takenText = (bytes: OrganizationBytes): string => {
  const parts = organizationParts.filter((part) => bytes[part] > 0)
  return (
    `${inGiB(sumOf(bytes))} GiB of the disk ` +
    `(${parts.map((part) => `${partNames[part]} ${inGiB(bytes[part])}`).join(', ')})`
  )
}

/** Rounded up; small figures keep digits that say something. */
const inGiB = (bytes: number): string => {
  const digits = bytes >= gibibyte / 10 ? 1 : 3
  return (Math.ceil((bytes / gibibyte) * 10 ** digits) / 10 ** digits).toFixed(digits)
}

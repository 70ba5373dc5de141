const gibibyte = 1024 ** 3

/** The bytes an organization takes on the disks of engines and server. */
export interface OrganizationBytes {
  readonly volumes: number
  readonly layers: number
  readonly images: number
  readonly backups: number
  readonly repositories: number
  readonly logs: number
}

/** The bytes of an organization with the figures that its limit depends on. */
export interface OrganizationFigures extends OrganizationBytes {
  /** Null before the first measurement. */
  readonly measured_at: Date | null
  /** The volumes, each counted with at least its declared size. */
  readonly declared_volumes: number
  /** The size of the largest disk of an engine. Null before the first measurement. */
  readonly disk_bytes: number | null
}

/** Names in the order in which people read them. */
const partNames = {
  volumes: 'volumes',
  layers: 'writable layers',
  images: 'built images',
  backups: 'backups',
  repositories: 'repositories',
  logs: 'logs',
} as const satisfies Record<keyof OrganizationBytes, string>
export const organizationParts = Object.keys(partNames) as readonly (keyof OrganizationBytes)[]

/** Pure: returns the sum of all parts. */
export const sumOf = (bytes: OrganizationBytes): number => organizationParts.reduce((sum, part) => sum + bytes[part], 0)

/** Pure: returns the sum with each volume counted with at least its declared size. */
export const claimedOf = (figures: OrganizationFigures): number =>
  sumOf({ ...figures, volumes: figures.declared_volumes })

/**
 * Pure: returns the limit of each organization, or undefined for none. `setting` is the operator's:
 * 0 means no limit, undefined half of the disk.
 */
export function limitOf(setting: number | undefined, diskBytes: number | null): number | undefined {
  if (setting === undefined) return diskBytes === null ? undefined : Math.floor(diskBytes / 2)
  return setting === 0 ? undefined : setting
}

/** Pure: returns why an organization may take nothing more. Undefined if it may. */
export function excessReason(bytes: OrganizationBytes, limit: number | undefined): string | undefined {
  if (limit === undefined || sumOf(bytes) <= limit) return undefined
  return `The organization takes ${takenText(bytes)}, and its limit is ${inGiB(limit)} GiB. ${remedy}`
}

/** Pure: returns why a declared size is rejected. Undefined if it fits. */
export function claimReason(figures: OrganizationFigures, limit: number | undefined): string | undefined {
  if (limit === undefined || claimedOf(figures) <= limit) return undefined
  const text = takenText({ ...figures, volumes: figures.declared_volumes })
  return (
    `storage: with this size the organization could take ${text}, and its limit is ${inGiB(limit)} GiB. ` +
    `Volumes count with their declared size. Choose a smaller size. ${remedy}`
  )
}

/** Growing services are stopped at once beyond this multiple of their organization's limit. */
const atOnce = 1.5
/** Beyond this multiple they are stopped at the second measurement in a row that finds it. */
const atSecond = 1.1

/** Pure: judges a measurement. `over` means that the next one decides. */
export function judgeOrganization(
  sum: number,
  limit: number | undefined,
  wasOver: boolean,
): 'within' | 'over' | 'stop' {
  if (limit === undefined || sum <= limit * atSecond) return 'within'
  return wasOver || sum > limit * atOnce ? 'stop' : 'over'
}

/** Pure: returns the reason why a growing service was stopped. */
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

/** Rounds up to GiB. Small figures keep more digits. */
const inGiB = (bytes: number): string => {
  const digits = bytes >= gibibyte / 10 ? 1 : 3
  return (Math.ceil((bytes / gibibyte) * 10 ** digits) / 10 ** digits).toFixed(digits)
}

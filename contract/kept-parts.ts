/**
 * How the platform keeps a document in a cluster, for routers that start while it is away. An
 * object of a cluster has at most 1 MiB, so a large document is kept in parts. The head names one
 * copy of each part, and is replaced last: it never names parts of two versions.
 */
export interface KeptHead {
  readonly version: number
  readonly parts: readonly KeptPart[]
}

/** The current copy of a part. */
export interface KeptPart {
  readonly slot: KeptSlot
  /** The SHA-256 digest of its text, in base64url. */
  readonly digest: string
}

/** Each part has two places. The next copy is written into the one that the head does not name. */
export const keptSlots = ['a', 'b'] as const
export type KeptSlot = (typeof keptSlots)[number]

/** The number of parts of a large document. */
export const keptPartCount = 16

/** The names of its files in a router's folder. */
export const keptFiles = {
  whole: 'whole.gz',
  head: 'head.json',
  part: (index: number, slot: KeptSlot): string => `${index}-${slot}.gz`,
} as const

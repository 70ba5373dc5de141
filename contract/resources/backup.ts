import { base, Defaulted, Enum, Nullable, Text, Timestamp, Type } from '../schema.ts'

export const backupStates = ['QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED'] as const
export type BackupState = (typeof backupStates)[number]
/** RUNNING also while it waits for its turn: one backup of the machine is proven at a time. */
export const proofStates = ['NONE', 'RUNNING', 'PROVEN', 'FAILED'] as const
export type ProofState = (typeof proofStates)[number]
export const restoreStates = ['NONE', 'RUNNING', 'SUCCEEDED', 'FAILED'] as const
export type RestoreState = (typeof restoreStates)[number]

const reason = Nullable(Type.String({ description: 'what came of it, and why it failed' }))

/** A backup of all that the volumes of a service hold, as of one moment. */
export const Backup = Type.Object({
  ...base,
  name: Type.String(),
  message: Type.String(),
  status: Type.Object({ state: Enum(backupStates), message: reason }),
  size_in_bytes: Type.Integer({ minimum: 0, description: 'of its files on the machine: compressed and encrypted' }),
  entries: Type.Integer({ minimum: 0, description: 'files, directories and links that it holds' }),
  proof: Type.Object(
    { state: Enum(proofStates), at: Nullable(Timestamp), message: reason },
    { description: 'whether it was restored on the side, compared, and (of databases) started' },
  ),
  restore: Type.Object(
    { state: Enum(restoreStates), at: Nullable(Timestamp), message: reason },
    { description: 'the last time that the service was set back to it' },
  ),
})

export const BackupRequest = Type.Object({
  name: Type.Optional(Nullable(Text(255))),
  message: Type.Optional(Nullable(Text(1000))),
})

export const BackupPage = Type.Object({
  page: Type.Integer(),
  page_size: Type.Integer(),
  last_proven_restore_at: Nullable(Timestamp),
  results: Type.Array(Backup),
})

/** When backups are made by themselves, and how many stay. */
export const BackupPolicy = Type.Object({
  cron_at: Nullable(Type.String({ description: 'five fields, as cron reads them; null: none is made by itself' })),
  timezone: Type.String(),
  keep: Type.Integer(),
  next_at: Nullable(Timestamp),
})

export const BackupPolicyRequest = Type.Object({
  cron_at: Type.Optional(Nullable(Text(255, 1))),
  timezone: Defaulted(Type.String({ maxLength: 64 }), 'Etc/UTC'),
  keep: Defaulted(Type.Integer({ minimum: 1, maximum: 100 }), 7),
})

import { base, Defaulted, Enum, Nullable, Text, Timestamp, Type } from '../schema.ts'

export const backupStates = ['QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED'] as const
export type BackupState = (typeof backupStates)[number]
/** RUNNING includes waiting: the machine verifies one backup at a time. */
export const proofStates = ['NONE', 'RUNNING', 'PROVEN', 'FAILED'] as const
export type ProofState = (typeof proofStates)[number]
export const restoreStates = ['NONE', 'RUNNING', 'SUCCEEDED', 'FAILED'] as const
export type RestoreState = (typeof restoreStates)[number]

const reason = Nullable(Type.String({ description: 'the result, or why it failed' }))

/** A backup of all volumes of a service at one moment. */
export const Backup = Type.Object({
  ...base,
  name: Type.String(),
  message: Type.String(),
  status: Type.Object({ state: Enum(backupStates), message: reason }),
  size_in_bytes: Type.Integer({
    minimum: 0,
    description: 'the size of its compressed and encrypted files on the machine',
  }),
  entries: Type.Integer({ minimum: 0, description: 'the number of files, directories and links in it' }),
  proof: Type.Object(
    { state: Enum(proofStates), at: Nullable(Timestamp), message: reason },
    { description: 'whether a test restore succeeded: restored, compared and, for databases, started' },
  ),
  restore: Type.Object(
    { state: Enum(restoreStates), at: Nullable(Timestamp), message: reason },
    { description: 'the last restore of the service from this backup' },
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

/** When automatic backups are made, and how many are kept. */
export const BackupPolicy = Type.Object({
  cron_at: Nullable(Type.String({ description: 'a cron expression of five fields; null for no automatic backups' })),
  timezone: Type.String(),
  keep: Type.Integer(),
  next_at: Nullable(Timestamp),
})

export const BackupPolicyRequest = Type.Object({
  cron_at: Type.Optional(Nullable(Text(255, 1))),
  timezone: Defaulted(Type.String({ maxLength: 64 }), 'Etc/UTC'),
  keep: Defaulted(Type.Integer({ minimum: 1, maximum: 100 }), 7),
})

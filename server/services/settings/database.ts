import { randomBytes } from 'node:crypto'
import { type DatabaseType, databaseTable } from '@quayside/contract/services/database.ts'
import { AppError } from '../../lib/error.ts'
import { type Branch, cleared, given } from './branch.ts'
import { versionRefusal } from './database-version.ts'
import { checkIcon, checkSize, refuse } from './rules.ts'

export interface DatabaseSettings {
  readonly type: DatabaseType
  readonly version: string
  readonly mode: 'CONTAINER' | 'MANAGED'
  readonly accessibility: 'PRIVATE' | 'PUBLIC'
  readonly cpu: number
  readonly memory: number
  /** GB. */
  readonly storage: number
  readonly instance_type?: string
  readonly disk_type: 'gp2' | 'gp3' | null
  readonly icon_uri: string
}

/** The name of the owner's password among the secrets of a database. */
export const passwordName = 'password'
/** The name of the password that copied data use, until the copy is deployed and sets its own. */
export const formerPasswordName = 'former_password'

const defaultIcon = (type: DatabaseType): string => `app://qovery-console/${type.toLowerCase()}`
const defaultMemory = ({ type, mode }: { readonly type: DatabaseType; readonly mode: string }): number =>
  mode === 'MANAGED' ? 100 : databaseTable[type].leastMemory

export const databaseBranch: Branch<'database'> = {
  create: (body) => {
    const { type, mode, version, accessibility, cpu, storage, instance_type, disk_type } = body
    return {
      type,
      mode,
      version,
      accessibility,
      cpu,
      storage,
      memory: body.memory ?? defaultMemory(body),
      ...cleared('instance_type', instance_type, undefined),
      disk_type: disk_type ?? null,
      icon_uri: body.icon_uri ?? defaultIcon(type),
    }
  },
  change: (former, body) => {
    for (const field of ['type', 'mode'] as const) {
      if (body[field] !== undefined && body[field] !== former[field]) {
        refuse(field, `must stay ${former[field]}: create another database instead`)
      }
    }
    const { version, accessibility, cpu, memory, storage, disk_type, icon_uri, instance_type } = body
    const { instance_type: _, ...kept } = former
    return {
      ...kept,
      ...given({ version, accessibility, cpu, memory, storage, disk_type }),
      ...cleared('instance_type', instance_type, former.instance_type),
      icon_uri: icon_uri ?? former.icon_uri,
    }
  },
  check: (settings, ceiling) => {
    checkSize(settings, ceiling)
    if (!/^[0-9][0-9A-Za-z._-]*$/.test(settings.version)) refuse('version', 'must be a version number, such as 16')
    checkIcon(settings.icon_uri)
  },
  checkDeployed: (former, next, { name, dataVersion }) => {
    if (dataVersion === null) return
    if (next.storage < former.storage) {
      throw new AppError('conflict', `storage: the database has ${former.storage} GB and cannot shrink.`)
    }
    const refusal = versionRefusal(next.type, { from: dataVersion, to: next.version, name })
    if (refusal) throw new AppError('conflict', `version: ${refusal}`)
  },
  repositories: [],
  origins: [],
  record: (settings, { ceiling, host, publicAddress }) => ({
    ...settings,
    host: publicAddress?.host ?? host,
    port: publicAddress?.port ?? databaseTable[settings.type].port,
    disk_encrypted: false,
    maximum_cpu: ceiling.cpu,
    maximum_memory: ceiling.memory,
  }),
}

/** Returns 32 letters and digits, which are safe in addresses and on command lines. */
export const newPassword = (): string =>
  randomBytes(24)
    .toString('base64url')
    .replace(/[^A-Za-z0-9]/g, 'q')

import { base, Change, Defaulted, Enum, Integer, Nullable, Ref, Text, Type } from '../schema.ts'
import { description, Groups, groups, iconUri, name } from './fields.ts'

export const databaseTypes = ['MONGODB', 'MYSQL', 'POSTGRESQL', 'REDIS'] as const
export type DatabaseType = (typeof databaseTypes)[number]
export const databaseModes = ['CONTAINER', 'MANAGED'] as const
export const databaseAccessibilities = ['PRIVATE', 'PUBLIC'] as const
const diskTypes = ['gp2', 'gp3'] as const

/** The settings of a database. `storage` is in GB. */
const properties = {
  name,
  description,
  version: Text(50, 1),
  accessibility: Defaulted(Enum(databaseAccessibilities), 'PRIVATE'),
  cpu: Defaulted(Type.Integer({ minimum: 250, maximum: 1_000_000, description: 'thousandths of a core' }), 250),
  /** The default depends on the type and mode. */
  memory: Type.Optional(Integer(100, 10_000_000)),
  storage: Defaulted(Type.Integer({ minimum: 10, maximum: 65536, description: 'GB' }), 10),
  instance_type: Type.Optional(Nullable(Text(255))),
  disk_type: Type.Optional(Nullable(Enum(diskTypes))),
  icon_uri: iconUri,
  ...groups,
}
/** The fields that never change. */
const lasting = { type: Enum(databaseTypes), mode: Enum(databaseModes) }

export const DatabaseCreate = Type.Object({ ...lasting, ...properties })
/** Absent fields are unchanged. `type` and `mode` may be repeated, but not changed. */
export const DatabaseEdit = Change({ ...lasting, ...properties })

export const Database = Type.Object({
  ...base,
  environment: Ref,
  name: Type.String(),
  description: Type.String(),
  icon_uri: Type.String(),
  service_type: Type.Literal('DATABASE'),
  type: Enum(databaseTypes),
  version: Type.String(),
  mode: Enum(databaseModes),
  accessibility: Enum(databaseAccessibilities),
  cpu: Type.Integer(),
  memory: Type.Integer(),
  storage: Type.Integer(),
  instance_type: Type.Optional(Type.String()),
  disk_type: Nullable(Enum(diskTypes)),
  disk_encrypted: Type.Boolean(),
  host: Type.String(),
  port: Type.Integer(),
  maximum_cpu: Type.Integer(),
  maximum_memory: Type.Integer(),
  ...Groups,
})

/** An available version, and the modes that it can run in. */
export const DatabaseConfiguration = Type.Object({
  database_type: Enum(databaseTypes),
  version: Type.Array(Type.Object({ name: Type.String(), supported_mode: Enum(databaseModes) })),
})
export const Version = Type.Object({ name: Type.String() })
export const Credentials = Type.Object({
  host: Type.String(),
  port: Type.Integer(),
  login: Type.String(),
  password: Type.String(),
})

/**
 * The properties of all databases of a type: the owner, the initial database, the port, the least
 * memory with which the server starts (MiB), and the versions of the official image, newest first.
 * Each database has its own generated password, which is stored encrypted.
 */
export const databaseTable = {
  POSTGRESQL: {
    login: 'root',
    databaseName: 'postgres',
    port: 5432,
    leastMemory: 100,
    image: 'postgres',
    volume: '/var/lib/postgresql/data',
    versions: ['18', '17', '16', '15', '14', '13'],
  },
  MYSQL: {
    login: 'root',
    databaseName: 'mysql',
    port: 3306,
    leastMemory: 512,
    image: 'mysql',
    volume: '/var/lib/mysql',
    versions: ['9', '8.4', '8.0', '8'],
  },
  MONGODB: {
    login: 'root',
    databaseName: 'admin',
    port: 27017,
    leastMemory: 256,
    image: 'mongo',
    volume: '/data/db',
    versions: ['8.0', '7.0', '6.0', '5.0', '4.4'],
  },
  REDIS: {
    login: 'default',
    databaseName: '0',
    port: 6379,
    leastMemory: 100,
    image: 'redis',
    volume: '/data',
    versions: ['8.0', '7.4', '7.2', '7', '6.2', '6'],
  },
} as const satisfies Record<
  DatabaseType,
  {
    readonly login: string
    readonly databaseName: string
    readonly port: number
    readonly leastMemory: number
    readonly image: string
    readonly volume: string
    readonly versions: readonly string[]
  }
>

import { Secret } from '../lib/secret.ts'
import type { Values } from './built-ins.ts'

/** The addresses and the credentials of a database. */
export interface DatabaseFacts {
  readonly type: string
  readonly login: string
  /** Absent if only names were requested. */
  readonly password?: Secret
  /** The name of the database that clients use by default. */
  readonly databaseName: string
  /** The port inside the environment. */
  readonly port: number
  /** The public address, if it has one. */
  readonly publicAddress?: { readonly host: string; readonly port: number }
}

/** The scheme and the suffix of connection strings, by type. */
const addresses: Readonly<Record<string, { readonly scheme: string; readonly suffix: string }>> = {
  POSTGRESQL: { scheme: 'postgresql', suffix: '' },
  MYSQL: { scheme: 'mysql', suffix: '' },
  MONGODB: { scheme: 'mongodb', suffix: '?authSource=admin' },
  REDIS: { scheme: 'redis', suffix: '' },
}

/**
 * Returns the values of a database by key without prefix. `internalHost` is its name inside the
 * environment. PORT is the internal port, so it still matches HOST_INTERNAL after the database
 * becomes public. The public port is PORT_EXTERNAL.
 */
export function databaseKeys(database: DatabaseFacts, internalHost: string): Values {
  const { login, password = new Secret(''), databaseName, port, publicAddress } = database
  const inside = { host: internalHost, port }
  const outside = publicAddress ?? inside
  return {
    HOST: outside.host,
    HOST_INTERNAL: internalHost,
    PORT: String(port),
    ...(publicAddress && { HOST_EXTERNAL: publicAddress.host, PORT_EXTERNAL: String(publicAddress.port) }),
    LOGIN: login,
    PASSWORD: password,
    DEFAULT_DATABASE_NAME: databaseName,
    DATABASE_URL: urlOf(database, password, outside),
    DATABASE_URL_INTERNAL: urlOf(database, password, inside),
  }
}

function urlOf(
  { type, login, databaseName }: DatabaseFacts,
  password: Secret,
  { host, port }: { readonly host: string; readonly port: number },
): Secret {
  const { scheme, suffix } = addresses[type] ?? { scheme: type.toLowerCase(), suffix: '' }
  const user = `${encodeURIComponent(login)}:${encodeURIComponent(password.reveal())}`
  return new Secret(`${scheme}://${user}@${host}:${port}/${encodeURIComponent(databaseName)}${suffix}`)
}

import { Secret } from '../lib/secret.ts'
import type { Values } from './built-ins.ts'

/** How a database is reached, and by whom. */
export interface DatabaseFacts {
  readonly type: string
  readonly login: string
  /** Absent where only names were asked for. */
  readonly password?: Secret
  /** Of the database that every client may use at once. */
  readonly databaseName: string
  /** Where it listens inside of its environment. */
  readonly port: number
  /** Where it answers outside of its environment, if it does. */
  readonly publicAddress?: { readonly host: string; readonly port: number }
}

/** By the type: what an address begins with, and what it ends with. */
const addresses: Readonly<Record<string, { readonly scheme: string; readonly suffix: string }>> = {
  POSTGRESQL: { scheme: 'postgresql', suffix: '' },
  MYSQL: { scheme: 'mysql', suffix: '' },
  MONGODB: { scheme: 'mongodb', suffix: '?authSource=admin' },
  REDIS: { scheme: 'redis', suffix: '' },
}

/**
 * The keys of a database after its prefix; `internalHost` is its name inside the environment. PORT is the one inside, so that it goes
 * on fitting HOST_INTERNAL when the database becomes public: outside it is PORT_EXTERNAL.
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

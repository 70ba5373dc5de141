import type { DatabaseType } from '@quayside/contract/services/database.ts'
import type { Secret } from '../lib/secret.ts'

/** The variable with the password in the data, if they were copied from another database. */
export const formerPasswordVariable = 'QUAYSIDE_FORMER_PASSWORD'

/**
 * Shell commands, by type, that set the owner's password in data with another one. They run inside
 * the container. Passwords are letters and digits and go through pipes, so no argument contains
 * one. Redis stores no password in its data.
 */
const exchanges: Partial<Record<DatabaseType, string>> = {
  // Inside the container PostgreSQL trusts connections over its socket.
  POSTGRESQL:
    `printf "alter role \\"%s\\" password '%s'" "$POSTGRES_USER" "$POSTGRES_PASSWORD" | psql ` +
    '--username="$POSTGRES_USER" --dbname="$POSTGRES_DB" --no-psqlrc --quiet --set=ON_ERROR_STOP=1',
  // The account that the check uses comes last: once it has the new password, both have it.
  MYSQL:
    `printf "alter user if exists 'root'@'localhost' identified by '%s'; alter user if exists 'root'@'%%' ` +
    `identified by '%s';" "$MYSQL_ROOT_PASSWORD" "$MYSQL_ROOT_PASSWORD" | ` +
    `MYSQL_PWD="$${formerPasswordVariable}" mysql --protocol=tcp --host="$HOSTNAME" --user=root`,
  MONGODB:
    `mongosh --quiet --nodb --eval 'const { env } = process; const name = env.MONGO_INITDB_ROOT_USERNAME; ` +
    `connect("mongodb://" + encodeURIComponent(name) + ":" + encodeURIComponent(env.${formerPasswordVariable}) ` +
    `+ "@" + env.HOSTNAME + ":27017/admin").changeUserPassword(name, env.MONGO_INITDB_ROOT_PASSWORD)'`,
}

/**
 * Pure: returns the readiness check of a database. If its data have another password, the check
 * sets the new one first. Repeating it changes nothing.
 */
export function askWithExchange(
  type: DatabaseType,
  ask: string,
  variables: Readonly<Record<string, string | Secret>>,
): string {
  const exchange = exchanges[type]
  if (!exchange || variables[formerPasswordVariable] === undefined) return ask
  return `(${ask}) || { ${exchange}; } && (${ask})`
}

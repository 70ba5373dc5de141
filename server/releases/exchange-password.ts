import type { DatabaseType } from '@quayside/contract/services/database.ts'
import type { Secret } from '../lib/secret.ts'

/** Of a database whose data came from another one: the password that the data know. */
export const formerPasswordVariable = 'QUAYSIDE_FORMER_PASSWORD'

/**
 * By the type: what gives the owner the password of this database in data that know another one, in
 * words of the shell inside of the container. Passwords are letters and digits, and go through
 * pipes: no argument of a program has one. Redis keeps none in its data.
 */
const exchanges: Partial<Record<DatabaseType, string>> = {
  // Inside of its container PostgreSQL trusts whoever comes by its socket.
  POSTGRESQL:
    `printf "alter role \\"%s\\" password '%s'" "$POSTGRES_USER" "$POSTGRES_PASSWORD" | psql ` +
    '--username="$POSTGRES_USER" --dbname="$POSTGRES_DB" --no-psqlrc --quiet --set=ON_ERROR_STOP=1',
  // The account by which it is asked comes last: once that has the new password, both have.
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
 * Pure: the command that asks a database whether it is ready for its owner. One whose data know
 * another password is given its own first; asked again, there is nothing left to do.
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

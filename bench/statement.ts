import { contract, type Operation } from '@quayside/contract'
import postgres from 'postgres'
import { authorize, readToken } from '../server/access/index.ts'
import type { Sql } from '../server/database/index.ts'
import { targetQuery } from '../server/http/index.ts'

/** A statement as PostgreSQL receives it. */
export interface Statement {
  readonly text: string
  readonly parameters: readonly string[]
}

/**
 * Returns the single statement of a read, so that the floor runs the same. It is recorded at the
 * driver while the server's own code runs it. The token is hashed with a wrong pepper here. It is
 * rejected, but only after the statement.
 */
export async function recordStatement(
  operation: Operation,
  { sockets, token, targetId }: { readonly sockets: string; readonly token: string; readonly targetId: string },
): Promise<Statement> {
  const recorded: Statement[] = []
  const db = postgres({
    host: sockets,
    database: 'postgres',
    username: 'quayside',
    max: 1,
    fetch_types: false,
    debug: (_connection, text, parameters) => recorded.push({ text, parameters: parameters.map(String) }),
  })
  const query = targetQuery(operation)
  const credential = readToken(token, Buffer.alloc(32))
  // The types of the driver and of the server's pool differ only in their options.
  const sql = db as unknown as Sql
  await authorize(sql, credential, { access: 'read', ...(query && { query }), targetId }).catch(() => {})
  await db.end()
  const statement = recorded.find(({ parameters }) => parameters.includes(targetId))
  if (!statement) throw new Error('the statement of a read was not recorded')
  return statement
}

export const readOperation: Operation = contract.getApplication

import { readFileSync } from 'node:fs'
import { contract, type Operation } from '@quayside/contract'
import fastify from 'fastify'
import postgres from 'postgres'

/**
 * The least cost of reads: Fastify, one prepared statement each (the last that the server sends for
 * it) and the serializer of the reply. Arguments: port, socket directory of PostgreSQL, database,
 * file with the reads.
 */
const [port, host = '', name = '', file = ''] = process.argv.slice(2)
const { reads } = JSON.parse(readFileSync(file, 'utf8'))
const database = postgres({ host, database: name, username: 'quayside', max: 4 })
const app = fastify()
for (const { path, statements, reply } of Object.values<Read>(reads)) {
  const { text, parameters } = statements.at(-1) ?? { text: 'select', parameters: [] }
  app.get(path, { schema: { response: { 200: replySchema(path) } } }, async () => {
    await database.unsafe(text, parameters, { prepare: true })
    return reply
  })
}
await app.listen({ port: Number(port), host: '127.0.0.1' })

interface Read {
  readonly path: string
  readonly statements: readonly { readonly text: string; readonly parameters: string[] }[]
  readonly reply: object
}

function replySchema(path: string) {
  const form = path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '{}')
  const operation = Object.values<Operation>(contract).find(
    (one) => one.method === 'GET' && one.path.replace(/\{\w+\}/g, '{}') === form,
  )
  if (!operation) throw new Error(`no operation reads ${path}`)
  return operation.reply
}

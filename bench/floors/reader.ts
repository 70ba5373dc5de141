import { readFileSync } from 'node:fs'
import { contract } from '@quayside/contract'
import fastify from 'fastify'
import postgres from 'postgres'

/**
 * The least cost of a read: Fastify, one prepared statement and the serializer of the reply. It
 * checks no token, permission or rate limit and sets no headers. Arguments: port, socket directory
 * of PostgreSQL, file with the statement.
 */
const [port, host = '', file = ''] = process.argv.slice(2)
const { text, parameters, targetId, ceiling } = JSON.parse(readFileSync(file, 'utf8'))
const database = postgres({ host, database: 'postgres', username: 'quayside', max: 4 })
const place = parameters.indexOf(targetId)

const app = fastify()
app.get<{ Params: { id: string } }>(
  '/application/:id',
  { schema: { response: { 200: contract.getApplication.reply } } },
  async ({ params }) => {
    const [row] = await database.unsafe(text, parameters.with(place, params.id), { prepare: true })
    return row && reply(row)
  },
)
await app.listen({ port: Number(port), host: '127.0.0.1' })

/** Returns the row in the shape of the response. */
function reply(row: postgres.Row) {
  const { git_repository: git, ...settings } = row['settings']
  const commit = row['deployed_commit']
  const [owner, name] = new URL(git.url).pathname
    .replace(/\.git$/, '')
    .split('/')
    .slice(-2)
  return {
    ...row,
    ...settings,
    ...ceiling,
    environment: { id: row['environment_id'] },
    service_type: 'APPLICATION',
    annotations_groups: [],
    labels_groups: [],
    git_repository: {
      ...git,
      owner,
      name,
      has_access: true,
      deployed_commit_id: commit.id,
      deployed_commit_date: new Date(commit.created_at),
      deployed_commit_contributor: commit.author_name,
      deployed_commit_tag: '',
      git_token_name: row['git_token_name'],
    },
  }
}

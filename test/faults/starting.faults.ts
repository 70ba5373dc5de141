import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startServer } from '../support/server-process.ts'

// The next start continues a first start that was interrupted.

const steps = ['Creating organization', 'Making the base image', 'Pushing examples/hello', 'Deploying it'] as const

test('a first start that is killed at each of its steps makes one of everything', async (t) => {
  const server = await startServer({ cutAt: steps.map((line) => ({ line, signal: 'SIGKILL' })) })
  t.after(() => server.close())
  const { sql, organizationId, instance } = server
  const rows = await sql<{ noun: string; count: number }[]>`
    select 'organization' as noun, count(*)::int from organization union all select 'project', count(*)::int
    from project
    union all select 'environment', count(*)::int from environment union all select 'service', count(*)::int
    from service
    union all select 'cluster', count(*)::int from cluster`
  assert.deepEqual(
    rows.map(({ count }) => count),
    [1, 1, 1, 1, 1],
  )
  assert.equal((await server.engine.containersWith(`quayside.instance=${instance}`)).length, 1)
  assert.equal((await server.api('GET', `/organization/${organizationId}/project`)).status, 200)
})

test('a first start that is stopped ends in order, and the next one completes it', async (t) => {
  const server = await startServer({ cutAt: [{ line: 'Deploying it', signal: 'SIGTERM' }] })
  t.after(() => server.close())
  assert.deepEqual(server.cuts, [{ code: 0, signal: null }])
  assert.equal((await server.engine.containersWith(`quayside.instance=${server.instance}`)).length, 1)
})

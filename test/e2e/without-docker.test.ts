import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { newId } from '../../server/lib/id.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { until } from '../support/until.ts'

/** A server of an installation without a Docker Engine, and without a cluster that answers. */

const withoutDocker = { QUAYSIDE_DOCKER_HOST: 'none' }

describe('a server without a Docker Engine', () => {
  let server: ServerProcess
  before(async () => {
    server = await startServer({ env: withoutDocker })
  })
  after(() => server.close())

  it('becomes ready, with an organization and a token, and starts no router', async () => {
    const organizations = await server.must<{ results: unknown[] }>('GET', '/organization')
    assert.equal(organizations.results.length, 1)
    assert.ok(
      server.output.includes('Connect a cluster of Kubernetes, because this installation has no Docker Engine.'),
    )
    await assert.rejects(stat(join(server.dataDirectory, 'router', 'routes.json')), { code: 'ENOENT' })
  })

  it('prints neither the token nor the link of the first account into a log', async () => {
    const link = (await readFile(join(server.dataDirectory, 'account-link'), 'utf8')).trim()
    assert.match(link, /\/setup\/\S{40,}$/)
    const text = server.output.join('\n')
    assert.ok(!text.includes(server.token) && !text.includes(link), text)
    assert.match(text, /^Token {8}in .*admin-token$/m)
  })

  it('has no cluster, and says so when an environment needs one', async () => {
    const path = `/organization/${server.organizationId}`
    const clusters = await server.must<{ results: unknown[] }>('GET', `${path}/cluster`)
    assert.deepEqual(clusters.results, [])
    const project = await server.must<{ id: string }>('POST', `${path}/project`, { name: 'first' })
    const body = { name: 'first', mode: 'DEVELOPMENT' }
    const answer = await server.api('POST', `/project/${project.id}/environment`, body)
    assert.equal(answer.status, 400)
    assert.match(String(Object(answer.body).detail), /no default cluster/)
  })

  it('becomes ready again with the same token', async () => {
    await server.restart({ env: withoutDocker })
    assert.equal((await server.api('GET', '/organization')).status, 200)
  })
})

describe('a server in a pod whose cluster gives it no token', () => {
  let server: ServerProcess
  const env = {
    ...withoutDocker,
    QUAYSIDE_DOMAIN: 'apps.example.org',
    QUAYSIDE_IN_CLUSTER_ID: newId(),
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: '9',
  }
  before(async () => {
    server = await startServer({ env })
  })
  after(() => server.close())

  it('becomes ready, and its cluster says what is missing', async () => {
    const path = `/organization/${server.organizationId}/cluster`
    const said = await until('the cluster says it', async () => {
      const logs = await server.api('GET', `${path}/${env.QUAYSIDE_IN_CLUSTER_ID}/logs`)
      const text = JSON.stringify(logs.body) + server.output.join('\n')
      return text.includes('automountServiceAccountToken') && text
    })
    assert.doesNotMatch(said, /example does not run/)
  })

  it('becomes ready again', async () => {
    await server.restart({ env })
    assert.equal((await server.api('GET', '/organization')).status, 200)
  })
})

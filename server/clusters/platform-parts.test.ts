import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { addPlace } from '../variables/testing.ts'
import { addBuiltInCluster, clusterEndowments, createPlatformParts, findClusterId } from './platform-parts.ts'

const { signal } = new AbortController()

test('a new organization has no cluster without a Docker Engine, and then no default one', async (t) => {
  const { sql } = await testDatabase(t)
  const { organizationId } = (await addPlace(sql)).project
  assert.deepEqual(clusterEndowments({ dockerSocket: undefined }), [])
  assert.deepEqual(clusterEndowments({ dockerSocket: '/var/run/docker.sock' }), [addBuiltInCluster])
  await sql`delete from environment`
  await sql`delete from cluster`
  await assert.rejects(findClusterId(sql, organizationId, undefined), {
    code: 'invalid',
    message: /no default cluster/,
  })
  assert.equal(await findClusterId(sql, organizationId, newId()), undefined)
})

test('the parts of a cluster are its engine, its router and its builder', async (t) => {
  const { sql } = await testDatabase(t)
  const { organizationId } = (await addPlace(sql)).project
  await addBuiltInCluster(sql, organizationId, new Date())
  const id = await findClusterId(sql, organizationId, undefined)
  assert.ok(id)
  assert.equal(await findClusterId(sql, organizationId, newId()), undefined)
  const asked: string[] = []
  const parts = createPlatformParts({
    database: sql,
    engineOf: ({ engine }) => ({
      ping: async () => void asked.push(`ping ${engine}`),
      listFindings: async () => [{ message: `no ${engine}`, isBlocking: false }],
      renewEnvironment: async (environment, releases) => {
        asked.push(`renew ${environment} on ${engine} with ${await releases()}`)
        return []
      },
      eraseAll: async () => [`everything on ${engine}`],
    }),
    refresh: async () => void asked.push('refresh'),
    environments: { stop: async () => {}, remove: async () => {} },
    clock: systemClock,
    releasesOf: async ({ engine }, environment) => [`a release of ${environment} for ${engine}`],
    patiently: (_, work) => work(),
    builderOf: ({ engine }) => ({ publishProblem: async () => `no registry of ${engine}` }),
    publisherOf: ({ engine }) => ({ apply: async () => asked.push(`apply ${engine}`) }),
    routerOf: ({ engine }) => ({
      renew: async () => void asked.push(`renew ${engine}`),
      listFindings: async () => [{ message: `no class on ${engine}`, isBlocking: true }],
    }),
  })
  await parts.checkEngine(id, signal)
  assert.deepEqual(await parts.listFindings(id, signal), [
    { message: 'no local', isBlocking: false },
    { message: 'no class on local', isBlocking: true },
    { message: 'no registry of local', isBlocking: true },
  ])
  assert.deepEqual(await parts.listEnvironments(id), [])
  await parts.renewEnvironment(id, 'e', signal)
  await parts.renewRouter(id, signal)
  await parts.publishRoutes(id, signal)
  assert.deepEqual(asked, [
    'refresh',
    'ping local',
    'renew e on local with a release of e for local',
    'renew local',
    'apply local',
  ])
})

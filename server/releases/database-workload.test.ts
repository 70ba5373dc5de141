import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DatabaseType, databaseTypes } from '@quayside/contract/services/database.ts'
import { Secret } from '../lib/secret.ts'
import { databaseWorkload } from './database-workload.ts'

const variables: Record<DatabaseType, Record<string, string | Secret>> = {
  POSTGRESQL: { POSTGRES_USER: 'root', POSTGRES_PASSWORD: new Secret('canary'), POSTGRES_DB: 'postgres' },
  MYSQL: { MYSQL_ROOT_PASSWORD: new Secret('canary') },
  MONGODB: { MONGO_INITDB_ROOT_USERNAME: 'root', MONGO_INITDB_ROOT_PASSWORD: new Secret('canary') },
  REDIS: { REDIS_PASSWORD: new Secret('canary') },
}
const workloadOf = (
  type: DatabaseType,
  publicPort?: { readonly address: string; readonly port: number },
  memory = 512,
) =>
  databaseWorkload(
    {
      type,
      version: '8',
      mode: 'MANAGED',
      accessibility: publicPort ? 'PUBLIC' : 'PRIVATE',
      cpu: 250,
      memory,
      storage: 10,
      disk_type: null,
      icon_uri: 'app://icon',
    },
    {
      service: 'a',
      image: 'image@sha256:1',
      variables: variables[type],
      files: [],
      aliases: ['database-a'],
      startDeadlineSeconds: 300,
      stopGraceSeconds: 10,
      labels: {},
      layerGiB: 10,
      scale: null,
      ...(publicPort && { publicPort }),
    },
  )

test('a database is one replica with a check as its owner, a stop signal, and a minute to stop', () => {
  for (const type of databaseTypes) {
    const { replicas, probes, stopSignal, stopGraceSeconds, publishedPorts, storage } = workloadOf(type)
    assert.deepEqual(replicas, { min: 1, max: 1 })
    assert.equal(probes.readiness?.check.type, 'exec')
    assert.equal(probes.liveness, undefined)
    assert.equal(stopSignal, type === 'POSTGRESQL' ? 'SIGINT' : 'SIGTERM')
    assert.equal(stopGraceSeconds, 60)
    assert.equal(publishedPorts, undefined)
    assert.deepEqual(
      storage.map(({ id }) => id),
      ['a'],
    )
  }
})

test('checks and arguments of a database contain no password', () => {
  for (const type of databaseTypes) {
    const { probes, arguments: given, entrypoint } = workloadOf(type)
    assert.doesNotMatch(JSON.stringify({ probes, given, entrypoint }), /canary/)
  }
})

test('a public database is published when the machine has a port for it', () => {
  assert.deepEqual(workloadOf('REDIS', { address: '127.0.0.1', port: 30_001 }).publishedPorts, [
    { internalPort: 6379, protocol: 'TCP', hostAddress: '127.0.0.1', hostPort: 30_001 },
  ])
})

test('a database has its configured memory, and never less than its server needs to start', () => {
  const least: Record<DatabaseType, number> = { POSTGRESQL: 100, MYSQL: 512, MONGODB: 256, REDIS: 100 }
  for (const type of databaseTypes) {
    assert.equal(workloadOf(type, undefined, 100).memoryMiB, least[type], type)
    assert.equal(workloadOf(type, undefined, 700).memoryMiB, 700, type)
  }
})

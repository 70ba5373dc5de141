import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { fakeWorkload } from '../engines/fake/fake-workload.ts'
import { silent } from '../lib/attempt.ts'
import { newId } from '../lib/id.ts'
import { Secret } from '../lib/secret.ts'
import { addPlace } from '../variables/testing.ts'
import { createRestarter } from './restarter.ts'

const attempt = { signal: new AbortController().signal, output: silent }

test('restartRelease collects lines, fetches the image, ends leaving replicas and starts, in this order', async (t) => {
  const { sql } = await testDatabase(t)
  const { serviceId: service, environmentId: environment, organizationId } = (await addPlace(sql)).service
  await sql`
    insert into service_scale (service_id, replicas, leaving, changed_at) values (${service}, 1, '{app-2}', now())`
  const [known, gone] = [newId(), newId()]
  const done: string[] = []
  const restarter = createRestarter({
    database: sql,
    engine: {
      start: async ({ id }) => {
        done.push(`start ${id}`)
        return []
      },
      endReplicas: async (_, names) => void done.push(`end ${names.join(' ')}`),
    },
    releases: {
      open: async (organization, id) => {
        assert.equal(organization, organizationId)
        if (id === gone) return undefined
        const release = { id, service, environment, displayName: 'app', workload: fakeWorkload('app') }
        return { release, secrets: [new Secret('hidden')], haveImage: async () => void done.push('image') }
      },
    },
    collector: {
      isCollected: () => false,
      collect: (id, release, secrets) => void done.push(`collect ${id === service} ${release} ${secrets.length}`),
    },
  })
  const wish = {
    id: service,
    organization_id: organizationId,
    engine: 'local',
    release_id: known,
    replicas: 1,
    is_task: false,
    may_scale: false,
    busy: false,
    stop_reason: null,
  }
  assert.deepEqual(await restarter.restartRelease(wish, known, attempt), [])
  assert.deepEqual(done, [`collect true ${known} 1`, 'image', 'end app-2', `start ${known}`])
  done.length = 0
  await restarter.restartRelease(wish, known, attempt)
  assert.ok(!done.includes('end app-2'), 'the replicas that left are forgotten')
  assert.equal(await restarter.restartRelease(wish, gone, attempt), undefined)
})

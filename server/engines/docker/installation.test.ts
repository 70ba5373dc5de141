import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { DockerDaemon } from './daemon.ts'
import { listInstallation } from './installation.ts'

const baseRepository = 'base.quayside.invalid/image'

test('an installation owns the tags of its own builds on base images, and no others', async () => {
  const own = `${baseRepository}:one-0123`
  const images = [{ RepoTags: [own, `${baseRepository}:two-0123`, `${baseRepository}:one2-0123`] }, { RepoTags: null }]
  const json = async ({ path }: { readonly path: string }): Promise<unknown> =>
    path === '/images/json' ? images : path === '/volumes' ? { Volumes: [] } : []
  const daemon = { json } as unknown as DockerDaemon
  const found = await listInstallation({ daemon, instance: 'one' }, [], AbortSignal.timeout(5000))
  assert.deepEqual(found.images, [own])
})

test('an installation with a builder owns no images of others', async () => {
  const fetched = 'quayside/builder-fetched:0123'
  const images = [
    { RepoTags: ['redis:7', 'quayside/service:1', 'team/web:1', fetched] },
    { RepoTags: ['<none>:<none>'] },
  ]
  const builder = { Names: ['/quay-builder-one-x'], Id: 'x', Labels: { 'quayside.instance': 'one' } }
  const json = async ({ path }: { readonly path: string }): Promise<unknown> => {
    if (path === '/images/json') return images
    if (path === '/containers/json') return [builder]
    return path === '/volumes' ? { Volumes: [] } : []
  }
  const daemon = { json } as unknown as DockerDaemon
  const found = await listInstallation({ daemon, instance: 'one' }, [], AbortSignal.timeout(5000))
  assert.deepEqual(found.images, [fetched])
})

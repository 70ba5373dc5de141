import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { kinds } from '../../server/engines/index.ts'
import { makeStack, provideRunnerImage, type TestStack } from '../support/stack.ts'
import type { StackPlace } from '../support/stack-place.ts'
import { openKube } from './support/access.ts'
import { publishBuilderImage } from './support/builder-image.ts'
import { publishRunner } from './support/publish-runner.ts'
import { openClusterPlace } from './support/stack-place.ts'

// A stack of a server without a Docker Engine, whose image is built in a pod of the cluster.

const image = await provideRunnerImage('terraform')

describe('a stack that is built in its cluster', {
  skip: image === undefined && 'this machine has no terraform',
}, () => {
  const kube = openKube()
  const limit = (): AbortSignal => AbortSignal.timeout(60_000)
  let place: StackPlace
  let stack: TestStack
  before(async () => {
    place = await openClusterPlace('stack-built', {
      QUAYSIDE_TERRAFORM_IMAGE: await publishRunner(image ?? ''),
      QUAYSIDE_DOCKER_HOST: 'none',
      QUAYSIDE_CLUSTER_BUILDER_IMAGE: await publishBuilderImage(),
      QUAYSIDE_CLUSTER_BUILDER_MEMORY: '1024',
      QUAYSIDE_CLUSTER_BUILDER_DISK: '4',
    })
  })
  after(async () => {
    await stack?.git.remove()
    const rows = place ? await place.server.sql<{ id: string }[]>`select id from cluster` : []
    const { items } = await kube.list(kinds.namespace, { labels: { 'quayside.io/builder': 'true' } }, limit())
    const own = items.filter(({ metadata: { name } }) => rows.some(({ id }) => name.endsWith(`-${id.slice(-12)}`)))
    for (const { metadata } of own) await kube.remove(kinds.namespace, metadata, limit())
    await place?.close()
    kube.close()
  })

  it('is planned, applied and destroyed there', async () => {
    const { server, environmentId } = place
    const version = image?.split(':').at(-1) ?? ''
    const settings = { job_resources: { cpu_milli: 200, ram_mib: 512, gpu: 0, storage_gib: 1 } }
    stack = await makeStack(server, { environmentId, name: 'built', version, settings })
    await stack.git.push({ 'main.tf': 'resource "terraform_data" "one" { input = 1 }\n' })
    await stack.deploy()
    assert.deepEqual(await stack.settles(480_000), { state: 'DEPLOYED', reason: null }, (await stack.log()).join('\n'))
    const { results } = await server.must<{ results: unknown[] }>('GET', `/terraform/${stack.id}/terraformResources`)
    assert.equal(results.length, 1)
    await server.must('DELETE', `/terraform/${stack.id}`)
    assert.deepEqual(await stack.settles(), { state: 'GONE', reason: null })
  })
})

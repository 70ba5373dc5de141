import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openKube } from '../../../../test/kubernetes/support/access.ts'
import { silent } from '../../../lib/attempt.ts'
import { systemClock as clock } from '../../../lib/clock.ts'
import { newId } from '../../../lib/id.ts'
import { EngineError } from '../../engine-error.ts'
import { kinds } from '../client/index.ts'
import { missingImage } from '../test-bench.ts'
import { builderNamespaceName } from './builder-objects.ts'
import { openBuilder } from './builder-pod.ts'

const kube = openKube()
const instance = newId().slice(-12)

after(async () => {
  await kube.remove(kinds.namespace, { name: builderNamespaceName(instance) }, AbortSignal.timeout(60_000))
  kube.close()
})

test('a builder whose image does not exist is refused at once, with the name of the setting', async () => {
  const settings = { image: missingImage, cpuMilli: 100, memoryMiB: 256, diskGiB: 1, nodes: undefined }
  const options = { kube, instance, clock, settings, pullConfig: async () => undefined }
  // The time in which a builder has to be ready is five minutes.
  const attempt = { signal: AbortSignal.timeout(60_000), output: silent }
  await assert.rejects(openBuilder(options, attempt), (error) => {
    assert.ok(error instanceof EngineError, String(error))
    assert.equal(error.reason, 'refused')
    assert.match(error.message, /QUAYSIDE_CLUSTER_BUILDER_IMAGE/)
    assert.ok(error.message.includes(missingImage), error.message)
    return true
  })
})

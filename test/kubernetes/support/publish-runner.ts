import assert from 'node:assert/strict'
import { DockerEngine } from '../../../server/engines/docker/docker-engine.ts'
import { silent } from '../../../server/lib/attempt.ts'
import { systemClock as clock } from '../../../server/lib/clock.ts'
import { ports } from '../cluster/settings.ts'
import { loopbackGuard } from './access.ts'

const name = 'quayside-stack-test/terraform'

/**
 * Publishes the image of an engine of stacks in the registry of the test cluster, with the same
 * tag. Returns its reference.
 */
export async function publishRunner(image: string): Promise<string> {
  const socketPath = '/var/run/docker.sock'
  const engine = new DockerEngine({ socketPath, instance: 'test-publisher', clock, guard: loopbackGuard })
  const target = { repository: `localhost:${ports.registry}/${name}`, login: undefined }
  const attempt = { signal: AbortSignal.timeout(300_000), output: silent }
  const [, digest = ''] = (await engine.pushImage(image, target, attempt)).reference.split('@')
  const manifests = `http://localhost:${ports.registry}/v2/${name}/manifests`
  const version = image.split(':').at(-1) ?? ''
  const types = 'application/vnd.docker.distribution.manifest.v2+json, application/vnd.oci.image.manifest.v1+json'
  const found = await fetch(`${manifests}/${digest}`, { headers: { accept: types } })
  const headers = { 'content-type': found.headers.get('content-type') ?? '' }
  const stored = await fetch(`${manifests}/${version}`, { method: 'PUT', headers, body: await found.text() })
  assert.equal(stored.status, 201, await stored.text())
  return `localhost:${ports.registry}/${name}:${version}`
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReadScaler } from '@quayside/contract/services/event-triggers.ts'
import { EngineError, type LongRunning } from '../engine.ts'
import { KubeError } from './client/index.ts'
import { hasKeda } from './event-scaler.ts'
import { releaseObjects } from './manifests.ts'
import { testRelease } from './test-release.ts'

const scaler = (change: Partial<ReadScaler> = {}): ReadScaler => ({
  scaler_type: 'cron',
  enabled: true,
  values: { timezone: 'UTC', desiredReplicas: 3 },
  authentication: null,
  ...change,
})
const objectsOf = (scalers: ReadScaler[], change: Partial<LongRunning> = {}) =>
  releaseObjects(
    testRelease({
      targets: { cpuPercent: 60 },
      events: { pollingSeconds: 30, cooldownSeconds: 300, scalers },
      ...change,
    }),
    { instance: 'here' },
  )
const kindsOf = (objects: ReturnType<typeof objectsOf>): string[] => objects.map(({ kind }) => kind)

test('a release with a policy has a ScaledObject in the place of an autoscaler by load', () => {
  const objects = objectsOf([scaler(), scaler({ enabled: false, scaler_type: 'kafka' })])
  assert.ok(!kindsOf(objects).includes('HorizontalPodAutoscaler'))
  const scaled = Object(objects.find(({ kind }) => kind === 'ScaledObject'))
  const deployment = Object(objects.find(({ kind }) => kind === 'Deployment'))
  assert.equal('replicas' in deployment.spec, false)
  assert.deepEqual(scaled.spec, {
    scaleTargetRef: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name: deployment.metadata.name,
      envSourceContainerName: 'main',
    },
    pollingInterval: 30,
    cooldownPeriod: 300,
    minReplicaCount: 2,
    maxReplicaCount: 4,
    triggers: [{ type: 'cron', metadata: { timezone: 'UTC', desiredReplicas: '3' } }],
  })
  assert.equal(scaled.metadata.labels['quayside.io/instance'], 'here')
})

test('a trigger gets values of variables of its service', () => {
  const env = [{ parameter: 'host', name: 'RABBIT_URL' }]
  const objects = objectsOf([scaler(), scaler({ scaler_type: 'rabbitmq', authentication: { env } })])
  const [authentication] = objects.filter(({ kind }) => kind === 'TriggerAuthentication')
  assert.deepEqual(Object(authentication).spec, {
    env: [{ parameter: 'host', name: 'RABBIT_URL', containerName: 'main' }],
  })
  const { triggers } = Object(objects.find(({ kind }) => kind === 'ScaledObject')).spec
  assert.deepEqual(triggers[1].authenticationRef, {
    name: authentication?.metadata.name,
    kind: 'TriggerAuthentication',
  })
})

const refused: readonly [what: string, change: Partial<ReadScaler>][] = [
  ['a Secret of the environment', { authentication: { secretTargetRef: [{ parameter: 'p', name: 'x', key: 'k' }] } }],
  ['an identity of the cluster', { authentication: { podIdentity: { provider: 'aws' } } }],
  ['a vault of the cluster', { authentication: { hashiCorpVault: { address: 'x' } } }],
  ['a ConfigMap', { authentication: { configMapTargetRef: [{ parameter: 'p', name: 'x', key: 'k' }] } }],
  ['an account', { authentication: { boundServiceAccountToken: [{ parameter: 'p', serviceAccountName: 'x' }] } }],
  ['both', { authentication: { env: [{ parameter: 'p', name: 'X' }], podIdentity: {} } }],
  ['another container', { authentication: { env: [{ parameter: 'p', name: 'X', containerName: 'sidecar' }] } }],
  ['nothing', { authentication: {} }],
  ['an entry that is no pair', { authentication: { env: ['X'] } }],
  ['the identity of the operator', { values: { identityOwner: 'operator' } }],
  ['nested values', { values: { a: { b: 1 } } }],
  ['a list', { values: { a: [1] } }],
  ['a strange name', { values: { 'a b': '1' } }],
  ['a type that is no name', { scaler_type: 'Cron; x' }],
  ['values that were not read', { values: null }],
]
for (const [what, change] of refused) {
  test(`a trigger with ${what} is refused with its field`, () => {
    assert.throws(
      () => objectsOf([scaler(), scaler(change)]),
      (error) => error instanceof EngineError && error.message.startsWith('autoscaling.scalers[1]'),
    )
  })
}

test('a policy without an enabled scaler is refused', () => {
  assert.throws(() => objectsOf([scaler({ enabled: false })]), /must have an enabled one/)
})

test('a service with one replica at most has no ScaledObject', () => {
  const objects = objectsOf([scaler()], { replicas: { min: 1, max: 1 } })
  assert.ok(!kindsOf(objects).includes('ScaledObject'))
})

test('a cluster has KEDA if it knows its kind', async () => {
  const { signal } = new AbortController()
  const with_ = (answer: () => Promise<unknown>) => hasKeda({ raw: answer }, signal)
  assert.equal(await with_(async () => ({ resources: [{ name: 'scaledobjects' }] })), true)
  assert.equal(await with_(async () => ({ resources: [{ name: 'scaledjobs' }] })), false)
  assert.equal(await with_(async () => ({})), false)
  assert.equal(await with_(() => Promise.reject(new KubeError(404, 'NotFound', 'no'))), false)
  await assert.rejects(with_(() => Promise.reject(new KubeError(0, 'Unreachable', 'away'))))
})

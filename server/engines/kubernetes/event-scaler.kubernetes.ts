import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { kubectl } from '../../../test/kubernetes/cluster/commands.ts'
import { until } from '../../../test/support/until.ts'
import { attempt, newRelease } from '../engine.cases.ts'
import { EngineError, type Release } from '../engine.ts'
import { kinds } from './client/index.ts'
import { namespaceOf, releaseName } from './names.ts'
import { type KubernetesBench, openKubernetesBench } from './test-bench.ts'
import { usePublishedImage } from './test-image.ts'

const image = usePublishedImage()
const limit = (): AbortSignal => AbortSignal.timeout(60_000)

const text = { type: 'string' }
const object = (properties: object) => ({ type: 'object', properties })
const list = (items: object) => ({ type: 'array', items })

/** The fields of KEDA's kinds that the platform writes. Others are unknown, and so refused. */
const schemas = {
  ScaledObject: object({
    scaleTargetRef: object({ apiVersion: text, kind: text, name: text, envSourceContainerName: text }),
    pollingInterval: { type: 'integer' },
    cooldownPeriod: { type: 'integer' },
    minReplicaCount: { type: 'integer' },
    maxReplicaCount: { type: 'integer' },
    triggers: list(
      object({
        type: text,
        metadata: { type: 'object', additionalProperties: text },
        authenticationRef: object({ name: text, kind: text }),
      }),
    ),
  }),
  TriggerAuthentication: object({ env: list(object({ parameter: text, name: text, containerName: text })) }),
}
const definitions = {
  apiVersion: 'v1',
  kind: 'List',
  items: Object.entries(schemas).map(([kind, spec]) => {
    const plural = `${kind.toLowerCase()}s`
    const schema = { openAPIV3Schema: object({ spec }) }
    return {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.keda.sh` },
      spec: {
        group: 'keda.sh',
        names: { kind, plural, singular: kind.toLowerCase() },
        scope: 'Namespaced',
        versions: [{ name: 'v1alpha1', served: true, storage: true, schema }],
      },
    }
  }),
}

describe('a release that scales by events', () => {
  let bench: KubernetesBench
  before(async () => {
    bench = await openKubernetesBench({ image: image.reference() })
  })
  after(async () => {
    await bench?.close()
    await removeKinds()
  })
  const removeKinds = () =>
    kubectl(['delete', 'crd', 'scaledobjects.keda.sh', 'triggerauthentications.keda.sh', '--ignore-not-found'])
  const release = (change: Partial<Release> = {}): Release => ({
    ...newRelease({
      ...bench.workload('web'),
      variables: { QUEUE: 'amqp://queue' },
      replicas: { min: 1, max: 3 },
      targets: { cpuPercent: 60 },
      events: {
        pollingSeconds: 30,
        cooldownSeconds: 300,
        scalers: [
          {
            scaler_type: 'rabbitmq',
            enabled: true,
            values: { queueName: 'work', value: 20 },
            authentication: { env: [{ parameter: 'host', name: 'QUEUE' }] },
          },
        ],
      },
    }),
    ...change,
  })
  const placeOf = (one: Release) => ({ namespace: namespaceOf(one.environment), name: releaseName(one) })

  it('is refused with what is missing on a cluster without KEDA', async () => {
    const one = release()
    await removeKinds()
    await assert.rejects(bench.engine.start(one, attempt()), (error) => {
      assert.ok(error instanceof EngineError, String(error))
      assert.equal(error.reason, 'refused')
      assert.match(error.message, /no KEDA \(the kind ScaledObject of keda\.sh\/v1alpha1\)/)
      return true
    })
    const other = bench.another()
    await other.observeAll(limit())
    assert.equal(typeof other.capabilities.events, 'object')
    other.close()
  })

  it('has a ScaledObject that pauses while it sleeps, and nothing is left of it at the end', async () => {
    await kubectl(['apply', '--filename=-'], { stdin: JSON.stringify(definitions) })
    await kubectl([
      'wait',
      '--for=condition=Established',
      'crd/scaledobjects.keda.sh',
      'crd/triggerauthentications.keda.sh',
    ])
    const one = release()
    const { engine, kube } = bench
    const [endpoint] = await until('the kinds are served', () => engine.start(one, attempt()).catch(retryUnknown))
    assert.ok(endpoint)
    const scaled = async () => kube.get(kinds.scaledObject, placeOf(one), limit())
    const isPaused = async () => (await scaled())?.metadata.annotations?.['autoscaling.keda.sh/paused']
    assert.equal(Object(await scaled()).spec.triggers[0].metadata.value, '20')
    assert.equal(await kube.get(kinds.autoscaler, placeOf(one), limit()), undefined)
    await kube.patch(kinds.deployment, placeOf(one), { spec: { replicas: 2 } }, limit())
    assert.ok((await engine.start(one, attempt())).length >= 1)
    assert.equal((await kube.get(kinds.deployment, placeOf(one), limit()))?.spec.replicas, 2)
    const seen = await engine.observe(one.service, limit())
    assert.ok(seen.state !== 'absent')
    const names = seen.replicas.map(({ name }) => name)
    await engine.endReplicas(one.service, names, attempt())
    assert.equal(await isPaused(), 'true')
    await engine.start(one, attempt())
    assert.equal(await isPaused(), undefined)
    await engine.retire(one.service, undefined, attempt())
    for (const kind of [kinds.scaledObject, kinds.triggerAuthentication]) {
      assert.deepEqual((await kube.list(kind, { namespace: placeOf(one).namespace }, limit())).items, [])
    }
  })
})

/** The API server serves new kinds a moment after it has accepted them. */
const retryUnknown = (error: unknown): undefined => {
  if (error instanceof EngineError && /no KEDA|could not find/.test(error.message)) return undefined
  throw error
}

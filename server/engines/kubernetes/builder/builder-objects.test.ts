import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isInPlace } from '../own-place.ts'
import { type BuilderObjectSetting, builderClaim, builderNamespace, builderObjects } from './builder-objects.ts'

const setting: BuilderObjectSetting = {
  instance: 'abc-123456789012',
  image: `registry.test/builder@sha256:${'0'.repeat(64)}`,
  cpuMilli: 2000,
  memoryMiB: 4096,
  diskGiB: 50,
  nodes: undefined,
}
const objectsOf = (change: Partial<BuilderObjectSetting> = {}) => {
  const objects = builderObjects({ ...setting, ...change })
  return (kind: string) => Object(objects.find((one) => one.kind === kind))
}
const podOf = (change: Partial<BuilderObjectSetting> = {}) => objectsOf(change)('Deployment').spec.template.spec

test('the builder has a namespace of its own that accepts a privileged pod', () => {
  const { metadata } = builderNamespace(setting.instance)
  assert.equal(metadata.name, 'quayside-builder-abc-123456789012')
  assert.equal(metadata.labels?.['pod-security.kubernetes.io/enforce'], 'privileged')
  assert.ok([...builderObjects(setting), builderClaim(setting)].every(isInPlace))
})

test('its pod has limits, no token of the cluster and a cache, and never runs twice', () => {
  const { spec } = objectsOf()('Deployment')
  assert.deepEqual([spec.replicas, spec.strategy.type], [1, 'Recreate'])
  const pod = podOf()
  assert.equal(pod.automountServiceAccountToken, false)
  const [container] = pod.containers
  assert.deepEqual(container.resources.limits, { cpu: '2000m', memory: '4096Mi' })
  assert.deepEqual(container.args, ['--oci-worker-gc-keepstorage=5000,5000,40000'])
  assert.ok(![...container.command, ...container.args].join().includes('entitlement'))
  assert.deepEqual(Object(builderClaim(setting)).spec.resources.requests, { storage: '50Gi' })
  assert.ok(!JSON.stringify(pod).includes('hostPath'))
})

test('nothing reaches it, and it reaches public addresses and name servers only', () => {
  const { podSelector, policyTypes, ingress, egress } = objectsOf()('NetworkPolicy').spec
  assert.deepEqual([podSelector, policyTypes, ingress], [{}, ['Ingress', 'Egress'], []])
  const [outside, names] = egress
  const blocked = outside.to.flatMap(({ ipBlock }: { ipBlock: { except: string[] } }) => ipBlock.except)
  const near = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', '168.63.129.16/32', 'fc00::/7']
  for (const network of near) assert.ok(blocked.includes(network), network)
  const ports = names.ports.map(({ port }: { port: number }) => port)
  assert.deepEqual(ports, [53, 53])
})

test('the operator chooses its nodes, and whose credentials fetch its image', () => {
  assert.deepEqual([podOf().nodeSelector, podOf().imagePullSecrets], [undefined, undefined])
  const pod = podOf({ nodes: { key: 'purpose', value: 'builds' }, pullConfig: '{}' })
  assert.deepEqual(pod.nodeSelector, { purpose: 'builds' })
  assert.deepEqual(pod.tolerations, [{ key: 'purpose', operator: 'Equal', value: 'builds' }])
  const secret = objectsOf({ pullConfig: '{}' })('Secret')
  assert.deepEqual(pod.imagePullSecrets, [{ name: secret.metadata.name }])
})

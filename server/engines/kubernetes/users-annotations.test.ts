import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ScopedAnnotations } from '@quayside/contract/resources/tag-group.ts'
import { releaseObjects } from './manifests.ts'
import { taskObjects } from './task-objects.ts'
import { testRelease, testTask } from './test-release.ts'

const setting = { instance: 'here' }
/** Chooses an annotation with the name of its scope for each of them. */
const chosen = (...scopes: (keyof ScopedAnnotations)[]): ScopedAnnotations =>
  Object.fromEntries(scopes.map((scope) => [scope, { 'a.test/scope': scope }]))
const scopeOn = (object: object): unknown => Object(object).metadata.annotations?.['a.test/scope']

test('each object has the annotations of its scope', () => {
  const annotations = chosen('DEPLOYMENTS', 'PODS', 'SERVICES', 'SECRETS', 'HPA', 'JOBS')
  const replicas = { min: 1, max: 3 }
  const objects = releaseObjects(testRelease({ annotations, replicas, targets: { cpuPercent: 60 } }), setting)
  assert.deepEqual(
    objects.map((object) => [object.kind, scopeOn(object)]),
    [
      ['Secret', 'SECRETS'],
      ['Service', 'SERVICES'],
      ['Deployment', 'DEPLOYMENTS'],
      ['PodDisruptionBudget', undefined],
      ['HorizontalPodAutoscaler', 'HPA'],
    ],
  )
  assert.equal(scopeOn(Object(objects[2]).spec.template), 'PODS')
  const [secret, job] = taskObjects(testTask({ annotations }), 'run', setting)
  assert.deepEqual([scopeOn(Object(secret)), scopeOn(Object(job))], ['SECRETS', 'JOBS'])
  assert.equal(scopeOn(Object(job).spec.template), 'PODS')
})

test('a Deployment has the annotations of stateful sets as well', () => {
  const objects = releaseObjects(testRelease({ annotations: chosen('STATEFUL_SETS') }), setting)
  assert.equal(scopeOn(Object(objects.find(({ kind }) => kind === 'Deployment'))), 'STATEFUL_SETS')
})

const refused: readonly (readonly [string, ScopedAnnotations, RegExp])[] = [
  ['a mesh', { PODS: { 'sidecar.istio.io/inject': 'true' } }, /"sidecar.istio.io\/inject"/],
  ['a network', { PODS: { 'k8s.v1.cni.cncf.io/networks': 'other' } }, /cncf.io/],
  ['copies of a Secret', { SECRETS: { 'reflector.v1.k8s.emberstack.com/reflection-allowed': 'true' } }, /emberstack/],
  ['a DNS name', { SERVICES: { 'external-dns.alpha.kubernetes.io/hostname': 'a.test' } }, /external-dns/],
  ['an identity', { PODS: { 'iam.amazonaws.com/role': 'admin' } }, /iam.amazonaws.com/],
  ['the platform', { DEPLOYMENTS: { 'quayside.io/objects': '' } }, /quayside.io\/objects/],
  ['a key of no form', { PODS: { 'a/b/c': '' } }, /"a\/b\/c"/],
  ['more than an object takes', { PODS: { big: 'x'.repeat(200_000) } }, /200003 bytes of annotations/],
  ['an Ingress', { INGRESS: { a: 'b' } }, /scope INGRESS, but an Ingress has the annotations of its rules alone/],
  ['the Gateway API', { GATEWAY_API_ROUTES: {} }, /scope GATEWAY_API_ROUTES, but the platform makes no routes/],
]
for (const [what, annotations, message] of refused) {
  test(`annotations for ${what} are refused`, () => {
    assert.throws(() => releaseObjects(testRelease({ annotations }), setting), message)
  })
}

test('an annotation that only keeps an autoscaler from moving pods is taken', () => {
  const annotations = { PODS: { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false' } }
  assert.ok(releaseObjects(testRelease({ annotations }), setting))
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RenderedObject } from '../../engine.ts'
import { acceptedArguments } from './chart-arguments.ts'
import { isInstalled, repairOf } from './chart-history.ts'
import { refusalOfObjects, withoutKnownKinds } from './check-objects.ts'
import { labelled, ownChart } from './own-chart.ts'
import { readRendered } from './read-rendered.ts'

const place = {
  id: '0190a000-0000-7000-8000-0000000000a1',
  service: '0190a000-0000-7000-8000-0000000000b2',
  environment: '0190a000-0000-7000-8000-0000000000c3',
}
const kinds = {
  version: 'v1.34.0',
  apiVersions: [],
  isNamespaced: new Map([
    ['v1/Service', true],
    ['v1/ConfigMap', true],
    ['apps/v1/Deployment', true],
    ['networking.k8s.io/v1/NetworkPolicy', true],
    ['rbac.authorization.k8s.io/v1/ClusterRole', false],
    ['apiextensions.k8s.io/v1/CustomResourceDefinition', false],
    ['known.dev/v1/Known', true],
  ]),
}
const object = (apiVersion: string, kind: string, more: object = {}): RenderedObject => ({
  apiVersion,
  kind,
  metadata: { name: 'x' },
  ...more,
})
const definition = (group: string, kind: string): RenderedObject =>
  object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {
    spec: { group, names: { kind }, versions: [{ name: 'v1' }] },
  })
const refusal = (objects: readonly RenderedObject[], isClusterWide = false): string | undefined =>
  refusalOfObjects(objects, { kinds, namespace: 'own', isClusterWide })

test('objects in the namespace are allowed', () => {
  assert.equal(refusal([object('v1', 'ConfigMap'), object('apps/v1', 'Deployment')]), undefined)
  assert.equal(refusal([object('v1', 'ConfigMap', { metadata: { name: 'x', namespace: 'own' } })]), undefined)
})

for (const [what, bad, message] of [
  [
    'of the whole cluster',
    object('rbac.authorization.k8s.io/v1', 'ClusterRole'),
    /ClusterRole "x" is an object of the/,
  ],
  [
    'in another namespace',
    object('v1', 'ConfigMap', { metadata: { name: 'x', namespace: 'kube-system' } }),
    /kube-system/,
  ],
  ['of network rules', object('networking.k8s.io/v1', 'NetworkPolicy'), /decides about others/],
  [
    'of an unknown kind',
    object('unknown.dev/v1', 'Thing'),
    /Thing "x" is of a kind of unknown.dev\/v1 that the cluster/,
  ],
  [
    'with the pull credentials',
    object('v1', 'ConfigMap', { data: { a: 'quayside-registry' } }),
    /belongs to the platform/,
  ],
  ['with external addresses', object('v1', 'Service', { spec: { externalIPs: ['10.0.0.1'] } }), /externalIPs/],
  ['of another name', object('v1', 'Service', { spec: { externalName: 'a.example' } }), /Service "x" leads to another/],
] as const) {
  test(`an object ${what} is refused by its name`, () => assert.match(refusal([bad]) ?? '', message))
}

test('a chart that may act on the whole cluster creates what its own definitions name', () => {
  const objects = [definition('own.dev', 'Own'), object('own.dev/v1', 'Own')]
  assert.equal(refusal(objects, true), undefined)
  assert.match(refusal([object('other.dev/v1', 'Other')], true) ?? '', /does not have/)
})

test('definitions that the cluster has are left out', () => {
  const other = definition('own.dev', 'Own')
  assert.deepEqual(withoutKnownKinds([definition('known.dev', 'Known'), other], kinds), [other])
})

test('two objects of one name are refused', () => {
  assert.match(refusal([object('v1', 'ConfigMap'), object('v1', 'ConfigMap')]) ?? '', /is rendered twice/)
})

test('pods and volumes get the labels of the platform, and selectors that name Helm follow', () => {
  const managed = { 'app.kubernetes.io/managed-by': 'Helm' }
  const set = labelled(
    place,
    object('apps/v1', 'StatefulSet', {
      spec: {
        selector: { matchLabels: managed },
        template: { metadata: { labels: managed } },
        volumeClaimTemplates: [{ metadata: { name: 'data' } }],
      },
    }),
    'instance',
  )
  const { selector, template, volumeClaimTemplates } = Object(set['spec'])
  assert.equal(set.metadata.labels?.['quayside.io/release'], place.id)
  assert.equal(selector.matchLabels['app.kubernetes.io/managed-by'], 'quayside')
  assert.equal(template.metadata.labels['app.kubernetes.io/managed-by'], 'quayside')
  assert.equal(template.metadata.labels['quayside.io/release'], undefined)
  assert.equal(volumeClaimTemplates[0].metadata.labels['quayside.io/service'], place.service)
})

test('braces in objects are no actions of templates', () => {
  const files = ownChart(place, [object('v1', 'ConfigMap', { data: { a: '{{ fail "x" }}' } })], 'instance')
  assert.match(files.get('templates/0.yaml') ?? '', /"\{\{ "\{\{" \}\} fail/)
})

test('what a chart renders is read with the name of the template that is wrong', () => {
  const good = '---\n# Source: web/templates/a.yaml\napiVersion: v1\nkind: List\nitems: []\n---\n# nothing\n'
  assert.deepEqual(readRendered(good), { objects: [] })
  const bad = `${good}---\n# Source: web/templates/b.yaml\na: [\n`
  assert.match(Object(readRendered(bad)).problem, /^templates\/b\.yaml renders invalid YAML/)
  assert.match(Object(readRendered('a: 1')).problem, /without apiVersion, kind or metadata\.name/)
})

const revision = (number: number, status: string, release = '') => ({ revision: number, status, release })

test('a release whose last change is incomplete goes back to the last complete one', () => {
  assert.equal(repairOf([]), undefined)
  assert.equal(repairOf([revision(1, 'deployed')]), undefined)
  assert.equal(repairOf([revision(1, 'pending-install')]), 'uninstall')
  assert.deepEqual(repairOf([revision(1, 'deployed'), revision(2, 'failed')]), { rollbackTo: 1 })
  const cut = [revision(1, 'superseded'), revision(2, 'deployed'), revision(3, 'pending-upgrade')]
  assert.deepEqual(repairOf(cut), { rollbackTo: 2 })
  assert.equal(repairOf([revision(1, 'deployed'), revision(2, 'uninstalling')]), 'uninstall')
  assert.equal(isInstalled([revision(1, 'deployed', place.id)], place.id), true)
  assert.equal(isInstalled([revision(1, 'failed', place.id)], place.id), false)
})

test('a version that was installed and fails later goes back too, once', () => {
  const installed = [revision(1, 'superseded', 'old'), revision(2, 'deployed', 'new')]
  assert.equal(repairOf(installed), undefined)
  assert.deepEqual(repairOf(installed, 'new'), { rollbackTo: 1 })
  assert.equal(repairOf(installed, 'another'), undefined)
  assert.equal(repairOf([revision(1, 'deployed', 'new')], 'new'), 'uninstall')
  const restored = [revision(1, 'superseded', 'old'), revision(2, 'superseded', 'new'), revision(3, 'deployed', 'old')]
  assert.equal(repairOf(restored, 'new'), undefined)
})

test('arguments that could run programs or reach elsewhere are refused', () => {
  assert.deepEqual(acceptedArguments(['--wait --atomic', '--no-hooks']), { accepted: ['--no-hooks'] })
  for (const bad of ['--post-renderer', '--kubeconfig=/etc/x', '--set', '-f', '--dependency-update', 'x']) {
    assert.match(
      Object(acceptedArguments([bad])).refusal,
      new RegExp(`"${bad.replaceAll('/', '\\/')}" is not accepted`),
    )
  }
})

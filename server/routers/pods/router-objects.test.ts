import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type RouterObjectSetting, routerNamespace, routerObjects } from './router-objects.ts'
import { testSetting } from './testing.ts'

const objectsOf = (change: Partial<RouterObjectSetting> = {}) => {
  const objects = routerObjects({ ...testSetting, ...change })
  return (kind: string) => Object(objects.find((one) => one.kind === kind))
}

test('a router runs without rights: no token, no root, no writable root, no capability', () => {
  const { spec } = objectsOf()('Deployment').spec.template
  assert.equal(spec.automountServiceAccountToken, false)
  assert.equal(spec.securityContext.runAsNonRoot, true)
  assert.deepEqual(spec.containers[0].securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
  const { labels } = routerNamespace(testSetting).metadata
  assert.equal(labels?.['pod-security.kubernetes.io/enforce'], 'restricted')
})

test('a rollout takes no router away before its successor gets requests', () => {
  const deployment = objectsOf()('Deployment')
  assert.deepEqual(deployment.spec.strategy.rollingUpdate, { maxSurge: 1, maxUnavailable: 0 })
  const { terminationGracePeriodSeconds, containers } = deployment.spec.template.spec
  assert.ok(containers[0].args.includes('--leave-seconds=10'))
  assert.ok(terminationGracePeriodSeconds > 10 + 20 + 30)
  assert.equal(objectsOf()('PodDisruptionBudget').spec.maxUnavailable, 1)
})

test('routers accept traffic, and connect to environments and name servers only', () => {
  const { spec } = objectsOf()('NetworkPolicy')
  assert.deepEqual(spec.ingress, [{ ports: [{ port: 8080, protocol: 'TCP' }] }])
  const [environments, names] = spec.egress
  assert.deepEqual(environments, { to: [{ namespaceSelector: testSetting.reached }] })
  assert.deepEqual(
    names.ports.map(({ port }: { port: number }) => port),
    [53, 53],
  )
})

test('routers that speak HTTPS have its port in the Service, the pods and the rule of the network', () => {
  const find = objectsOf({ speaksTls: true, exposure: { type: 'NodePort', nodePort: 30_080, tlsNodePort: 30_443 } })
  const [, secure] = find('Service').spec.ports
  assert.deepEqual([secure.port, secure.targetPort, secure.nodePort], [443, 8443, 30_443])
  assert.deepEqual(find('NetworkPolicy').spec.ingress[0].ports.at(-1), { port: 8443, protocol: 'TCP' })
  const [container] = find('Deployment').spec.template.spec.containers
  for (const flag of ['--tls-port=8443', '--public-port=80', '--public-tls-port=443']) {
    assert.ok(container.args.includes(flag), flag)
  }
  assert.equal(objectsOf()('Service').spec.ports.length, 1)
  const plain = objectsOf()('Deployment').spec.template.spec.containers[0]
  assert.ok(!plain.args.some((flag: string) => flag.includes('tls')))
})

test('the Service is of the type that the operator chose, and keeps the addresses of clients', () => {
  const serviceOf = (exposure: RouterObjectSetting['exposure']) => objectsOf({ exposure })('Service').spec
  assert.equal(serviceOf({ type: 'LoadBalancer' }).type, 'LoadBalancer')
  const { type, externalTrafficPolicy, ports } = serviceOf({ type: 'NodePort', nodePort: 30_080 })
  assert.deepEqual([type, externalTrafficPolicy, ports[0].nodePort], ['NodePort', 'Local', 30_080])
  assert.equal('nodePort' in serviceOf({ type: 'NodePort' }).ports[0], false)
})

test('credentials of the registry are in a Secret only if it needs some', () => {
  assert.equal(objectsOf()('Secret').kind, undefined)
  const objects = objectsOf({ pullConfig: '{}' })
  assert.equal(objects('Secret').type, 'kubernetes.io/dockerconfigjson')
  const { imagePullSecrets } = objects('Deployment').spec.template.spec
  assert.deepEqual(imagePullSecrets, [{ name: objects('Secret').metadata.name }])
})

test('proxies that are trusted and limits of connections are flags of the router', () => {
  const [{ args }] = objectsOf({ trusted: ['10.0.0.0/8', '::1'], proxies: ['192.0.2.1'] })('Deployment').spec.template
    .spec.containers
  for (const flag of [
    '--trusted=10.0.0.0/8,::1',
    '--proxies=192.0.2.1',
    '--connections=10000',
    '--connections-per-client=1000',
  ]) {
    assert.ok(args.includes(flag), flag)
  }
  assert.ok(!objectsOf()('Deployment').spec.template.spec.containers[0].args.join().includes('--trusted'))
})

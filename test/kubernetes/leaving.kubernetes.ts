import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kinds } from '../../server/engines/kubernetes/client/index.ts'
import { KubernetesEngine } from '../../server/engines/kubernetes/kubernetes-engine.ts'
import { issuedLabels, routeLabels } from '../../server/engines/kubernetes/labels.ts'
import { replicasOn } from '../../server/engines/kubernetes/manifests.ts'
import { namespaceOf, releaseName } from '../../server/engines/kubernetes/names.ts'
import { openKubernetesBench } from '../../server/engines/kubernetes/test-bench.ts'
import { usePublishedImage } from '../../server/engines/kubernetes/test-image.ts'
import { silent } from '../../server/lib/attempt.ts'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { newId } from '../../server/lib/id.ts'
import { createIngressRouter } from '../../server/routers/ingress/ingress-router.ts'
import { routeNamespaces } from '../../server/routers/ingress/route-namespaces.ts'
import { startTraffic } from '../support/traffic.ts'
import { until } from '../support/until.ts'
import { imageName } from './cluster/build.ts'
import { addresses, ports } from './cluster/settings.ts'
import { adminAccess, loopbackGuard } from './support/access.ts'
import { askController } from './support/ingress-bench.ts'

const image = usePublishedImage()
const signal = AbortSignal.timeout(280_000)
/** Ends at once when asked to, so that every request that comes later is lost. */
const program = `
  require('http').createServer((_, response) => response.end('ok')).listen(8080)
  process.on('SIGTERM', () => process.exit(0))`

test('no request through the ingress controller is lost when the cluster itself removes replicas', async (t) => {
  const bench = await openKubernetesBench({ image: image.reference() })
  t.after(() => bench.close())
  const { instance, kube } = bench
  const access = { access: adminAccess, guard: loopbackGuard, hasDomain: true }
  const engine = new KubernetesEngine({
    ...access,
    ...{ instance, clock, helperImage: imageName('tools'), registry: undefined },
  })
  t.after(() => engine.close())
  const release = {
    ...{ id: newId(), service: newId(), environment: newId(), displayName: 'shop' },
    workload: { ...bench.workload('web'), arguments: [program], cpuMilli: 50, replicas: { min: 3, max: 3 } },
  }
  const { id, service, environment } = release
  const endpoints = await engine.start(release, { signal, output: silent })
  const labels = { labels: routeLabels(instance), issuedLabels: issuedLabels(instance) }
  const setting = { ...labels, ...routeNamespaces(instance), podsOf: replicasOn(instance), usual: {} }
  const router = createIngressRouter({ kube, clock, className: undefined, setting })
  const host = 'leaving.test'
  const replicas = { environment, release: id }
  await router.replaceAll([{ host, service, name: 'shop', endpoints, replicas }], signal)
  await until('it answers', async () => (await askController(host)).status === 200)
  const traffic = startTraffic(`http://${host}:${ports.ingress}/`, 100, addresses.node)
  t.after(() => traffic.stop())
  const place = { namespace: namespaceOf(environment), name: releaseName(release) }
  const pods = async () => (await kube.list(kinds.pod, { namespace: place.namespace }, signal)).items.length
  for (let times = 0; times < 3; times++) {
    // As an autoscaler does, which asks nobody.
    await kube.patch(kinds.deployment, place, { spec: { replicas: 1 } }, signal)
    await until('two replicas are gone', async () => (await pods()) === 1)
    await traffic.sends(200)
    await engine.start(release, { signal, output: silent })
    await traffic.sends(100)
  }
  const { sent, lost } = await traffic.stop()
  t.diagnostic(`${sent} requests, ${lost.length} lost`)
  assert.deepEqual(lost, [])
})

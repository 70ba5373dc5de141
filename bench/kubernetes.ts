import { existsSync } from 'node:fs'
import { KubernetesEngine, type Release } from '../server/engines/index.ts'
import { kinds } from '../server/engines/kubernetes/client/index.ts'
import { environmentNamespace, environmentPolicies } from '../server/engines/kubernetes/environment-objects.ts'
import { releaseObjects } from '../server/engines/kubernetes/manifests.ts'
import { namespaceOf, releaseName } from '../server/engines/kubernetes/names.ts'
import { silent } from '../server/lib/attempt.ts'
import { systemClock as clock } from '../server/lib/clock.ts'
import { imageName } from '../test/kubernetes/cluster/build.ts'
import { kubectl } from '../test/kubernetes/cluster/commands.ts'
import { kubeconfig } from '../test/kubernetes/cluster/settings.ts'
import { adminAccess, loopbackGuard, openKube } from '../test/kubernetes/support/access.ts'
import { atMost, type Benchmark, relative } from './figure.ts'
import { benchRelease } from './kubernetes-release.ts'
import { paired } from './paired.ts'

const rounds = 9
const instance = `bench-${process.pid}`

const limit = (): AbortSignal => AbortSignal.timeout(120_000)

/**
 * Measures the start of a service of two replicas on the cluster of the tests, in a new
 * environment, against `kubectl apply` and `kubectl rollout status` of the same objects. Prints why
 * it does not run if there is no such cluster.
 */
export const kubernetes: Benchmark = {
  figures: ['kubernetes-start'],
  async measure({ ending, say }) {
    if (!existsSync(kubeconfig)) {
      say('  not measured: start the cluster of the tests first (node test/kubernetes/cluster/main.ts start)')
      return []
    }
    const kube = openKube()
    const engine = new KubernetesEngine({
      access: adminAccess,
      guard: loopbackGuard,
      instance,
      clock,
      helperImage: imageName('busybox'),
      registry: undefined,
    })
    ending.defer(() => {
      engine.close()
      kube.close()
    })
    const remove = async (release: Release): Promise<void> => {
      await kube.remove(kinds.namespace, { name: namespaceOf(release.environment) }, limit())
    }
    const bare = async (): Promise<number> => {
      const release = benchRelease()
      const startedAt = clock.monotonic()
      await applyBare(release)
      const ms = clock.monotonic() - startedAt
      await remove(release)
      return ms
    }
    const ours = async () => {
      const release = benchRelease()
      const startedAt = clock.monotonic()
      await engine.start(release, { signal: limit(), output: silent })
      const started = clock.monotonic() - startedAt
      say(`  started after ${started.toFixed(0)} ms`)
      await remove(release)
      return { started }
    }
    await ours()
    const { started } = await paired(rounds, bare, ours)
    return [relative('kubernetes-start', started, 'ms', atMost(1.3))]
  },
}

async function applyBare(release: Release): Promise<void> {
  const { environment } = release
  const items = [
    environmentNamespace(environment, instance),
    ...environmentPolicies(environment, instance),
    ...releaseObjects(release, { instance }),
  ]
  const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
  await kubectl(['apply', '--server-side', '--filename=-'], { stdin })
  const place = ['--namespace', namespaceOf(environment)]
  await kubectl([...place, 'rollout', 'status', `deployment/${releaseName(release)}`, '--timeout=60s'])
}

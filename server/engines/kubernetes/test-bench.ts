import { imageName } from '../../../test/kubernetes/cluster/build.ts'
import { ports } from '../../../test/kubernetes/cluster/settings.ts'
import { adminAccess, loopbackGuard, openKube } from '../../../test/kubernetes/support/access.ts'
import { until } from '../../../test/support/until.ts'
import { systemClock as clock } from '../../lib/clock.ts'
import { newId } from '../../lib/id.ts'
import { node, workloadOf } from '../docker/test-bench.ts'
import type { EngineBench } from '../engine.cases.ts'
import { type Kube, kinds } from './client/index.ts'
import { KubernetesEngine } from './kubernetes-engine.ts'
import { label, ownLabels } from './labels.ts'

/** The engine under test, with direct access to its cluster. */
export interface KubernetesBench extends EngineBench {
  readonly engine: KubernetesEngine
  readonly instance: string
  readonly kube: Kube
  /** The same installation as another process of it sees it. */
  another(): KubernetesEngine
}

const limit = (): AbortSignal => AbortSignal.timeout(120_000)
export const missingImage = `localhost:${ports.registry}/quayside-engine-test/missing:1`
export { node }

export async function openKubernetesBench({ image }: { readonly image: string }): Promise<KubernetesBench> {
  const instance = `test-${newId().slice(-8)}`
  const kube = openKube()
  const engines: KubernetesEngine[] = []
  const another = (): KubernetesEngine => {
    const engine = new KubernetesEngine({
      access: adminAccess,
      instance,
      guard: loopbackGuard,
      clock,
      helperImage: imageName('tools'),
      registry: undefined,
      clusterLabels: async () => ({ 'a.test/of': 'cluster', 'quayside.io/environment': 'other' }),
    })
    engines.push(engine)
    return engine
  }
  return {
    engine: another(),
    another,
    instance,
    kube,
    repairsItself: true,
    workload: (program) => ({
      ...workloadOf(image, program),
      // A node reserves the CPU of its pods, and two cores are soon reserved.
      cpuMilli: 100,
      ...(program === 'image-missing' && { image: missingImage }),
    }),
    answers: async ({ address, port }) => (await fetch(`http://${address}:${port}/`, { signal: limit() })).ok,
    commands: {
      printVariable: (name) => ['node', '-e', `process.stdout.write(process.env[${JSON.stringify(name)}])`],
      printFile: (path) => ['node', '-e', `process.stdout.write(fs.readFileSync(${JSON.stringify(path)}))`],
      exitWith: (code) => ['node', '-e', `process.exit(${code})`],
    },
    remove: async (name) => {
      const { items } = await kube.list(
        kinds.pod,
        { labels: ownLabels(instance), fields: `metadata.name=${name}` },
        limit(),
      )
      await Promise.all(items.map(({ metadata }) => kube.remove(kinds.pod, metadata, limit(), { graceSeconds: 0 })))
    },
    close: async () => {
      for (const engine of engines) engine.close()
      await eraseAll(kube, instance)
      kube.close()
    },
  }
}

/** Removes all namespaces of an installation. */
async function eraseAll(kube: Kube, instance: string): Promise<void> {
  const list = async () => (await kube.list(kinds.namespace, { labels: { [label.instance]: instance } }, limit())).items
  await Promise.all((await list()).map(({ metadata }) => kube.remove(kinds.namespace, metadata, limit())))
  await until('the namespaces are gone', async () => (await list()).length === 0)
}

import { busy, shellCommands } from '../docker/test-bench.ts'
import { taskOf } from '../docker/test-task-bench.ts'
import { shellCases } from '../engine.shell.cases.ts'
import { taskCases } from '../engine.tasks.cases.ts'
import { usageCases } from '../engine.usage.cases.ts'
import { kinds } from './client/index.ts'
import { label, ownLabels } from './labels.ts'
import { missingImage, openKubernetesBench } from './test-bench.ts'
import { usePublishedImage } from './test-image.ts'

const image = usePublishedImage()
const open = () => openKubernetesBench({ image: image.reference() })
const limit = (): AbortSignal => AbortSignal.timeout(60_000)

shellCases('kubernetes', async () => ({ ...(await open()), ...shellCommands }))

taskCases('kubernetes', async () => {
  const { engine, another, close, kube, instance } = await open()
  return {
    engine,
    another: another(),
    close,
    task: (program) => ({
      ...taskOf(image.reference(), program),
      ...(program === 'image-missing' && { image: missingImage }),
      cpuMilli: 200,
    }),
    remove: async (run) => {
      const { items } = await kube.list(kinds.job, { labels: ownLabels(instance, { [label.run]: run }) }, limit())
      await Promise.all(items.map(({ metadata }) => kube.remove(kinds.job, metadata, limit())))
    },
    // The network of a run belongs to its pod.
    removeNetwork: async () => {},
  }
})

usageCases('kubernetes', async () => {
  const bench = await open()
  return { ...bench, busy: () => busy(bench.workload('web')), load: () => {} }
})

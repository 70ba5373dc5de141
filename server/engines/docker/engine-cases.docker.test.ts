import assert from 'node:assert/strict'
import { findFreePort } from '../../../test/support/free-port.ts'
import { engineCases } from '../engine.cases.ts'
import { type DiskBench, diskCases, type Written } from '../engine.disk.cases.ts'
import { publishingCases } from '../engine.publishing.cases.ts'
import { shellCases } from '../engine.shell.cases.ts'
import { taskFilesCases } from '../engine.task-files.cases.ts'
import { taskCases } from '../engine.tasks.cases.ts'
import { usageCases } from '../engine.usage.cases.ts'
import { busy, node, openDockerBench, shellCommands } from './test-bench.ts'
import { useTestImage } from './test-image.ts'
import { openTaskBench, openTaskFilesBench } from './test-task-bench.ts'

const { socketPath, image } = useTestImage()
const limit = (): AbortSignal => AbortSignal.timeout(120_000)

engineCases('docker', () => openDockerBench({ socketPath, image }))

const writing = (directory: string, { bytes, files }: Written): string => `
  fs.mkdirSync('${directory}', { recursive: true });
  fs.writeFileSync('${directory}/large', Buffer.alloc(${bytes}, 7));
  for (let i = 0; i < ${files}; i++) fs.writeFileSync('${directory}/' + i, '')`
async function openDiskBench(): Promise<DiskBench> {
  const { anotherEngine, ...bench } = await openDockerBench({ socketPath, image })
  const { task } = await openTaskBench({ socketPath, image })
  return {
    ...bench,
    another: anotherEngine('other'),
    write: async ({ service }, place, written) => {
      const program = writing(place === 'volume' ? '/data' : '/srv', written)
      const { exitCode, output } = await bench.engine.exec(service, ['node', '-e', program], limit())
      assert.equal(exitCode, 0, output)
    },
    writer: (written) => ({ ...task('works'), ...node(writing('/srv', written)) }),
    hasRun: () => {},
  }
}
diskCases('docker', openDiskBench)
shellCases('docker', async () => ({ ...(await openDockerBench({ socketPath, image })), ...shellCommands }))
usageCases('docker', async () => {
  const bench = await openDockerBench({ socketPath, image })
  return { ...bench, busy: () => busy(bench.workload('web')), load: () => {} }
})
publishingCases('docker', async () => ({
  ...(await openDockerBench({ socketPath, image })),
  freePort: findFreePort,
}))

taskCases('docker', () => openTaskBench({ socketPath, image }))
taskFilesCases('docker', () => openTaskFilesBench({ socketPath, image }))

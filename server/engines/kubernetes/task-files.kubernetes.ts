import { imageName } from '../../../test/kubernetes/cluster/build.ts'
import { taskOf } from '../docker/test-task-bench.ts'
import { type FileProgram, taskFiles, taskFilesCases } from '../engine.task-files.cases.ts'
import { openKubernetesBench } from './test-bench.ts'

const copy = `{ cat ${taskFiles.input}; printf ' copied'; } >${taskFiles.output}`
const programs: Record<FileProgram, string> = {
  copies: copy,
  fails: `${copy}; exit 3`,
  floods: `head -c ${taskFiles.mostBytes + 1} /dev/zero >${taskFiles.output}`,
  hoards: `${copy}; head -c ${8 * taskFiles.mostBytes} /dev/zero >/quayside-run/a`,
  hangs: `trap 'exit 7' TERM; ${copy}; echo up; while :; do sleep 3600 & wait $!; done`,
}

taskFilesCases('kubernetes', async () => {
  const image = imageName('tools')
  const { engine, close } = await openKubernetesBench({ image })
  const task = (program: FileProgram) => ({
    ...taskOf(image, 'works'),
    entrypoint: ['/bin/sh', '-c', programs[program]],
    arguments: [],
    cpuMilli: 100,
  })
  return { engine, task, close }
})

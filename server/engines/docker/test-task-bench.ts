import { systemClock } from '../../lib/clock.ts'
import { type FileProgram, type TaskFilesBench, taskFiles } from '../engine.task-files.cases.ts'
import { outputFile, type TaskBench, type TaskProgram } from '../engine.tasks.cases.ts'
import type { Task } from '../engine.ts'
import { removeContainer } from './containers.ts'
import { DockerDaemon } from './daemon.ts'
import { holderName, taskName } from './labels.ts'
import { node, openDockerBench } from './test-bench.ts'

const programs: Record<Exclude<TaskProgram, 'image-missing'>, string> = {
  works: `console.log('done')`,
  writes: `fs.writeFileSync(${JSON.stringify(outputFile)}, '{"KEY":{"value":"one"}}');console.log('done')`,
  fails: `console.log('said ' + process.env.HIDDEN);
    console.log('and ' + require('fs').readFileSync('/srv/hidden', 'utf8').split('\\n')[1]);process.exitCode=3`,
  endless: `console.log('up');setInterval(()=>{},1e6)`,
  'out-of-memory': `const kept=[];for(;;)kept.push(Buffer.alloc(1e7,1))`,
}

/** The Docker engine for the test suite of tasks. */
export async function openTaskBench(options: {
  readonly socketPath: string
  readonly image: string
}): Promise<TaskBench> {
  const { engine, anotherEngine, close } = await openDockerBench(options)
  const daemon = new DockerDaemon({ socketPath: options.socketPath, clock: systemClock })
  return {
    engine,
    another: anotherEngine(),
    close,
    task: (program) => taskOf(options.image, program),
    remove: (run) => removeContainer(daemon, taskName(run), AbortSignal.timeout(60_000)),
    removeNetwork: (run) => removeContainer(daemon, holderName(run), AbortSignal.timeout(60_000)),
  }
}

/** The settings of a program of the suite. */
export const taskOf = (image: string, program: TaskProgram): Task => ({
  shape: 'task',
  image: program === 'image-missing' ? 'quayside-engine-test/missing:1' : image,
  ...node(program === 'image-missing' ? '' : programs[program]),
  variables: {},
  files: [],
  cpuMilli: 500,
  memoryMiB: 128,
  aliases: [],
  stopGraceSeconds: 5,
  timeoutSeconds: 60,
})

const filePrograms: Record<FileProgram, string> = {
  copies: copying(''),
  fails: copying('process.exitCode=3'),
  floods: `fs.writeFileSync('${taskFiles.output}', Buffer.alloc(${taskFiles.mostBytes + 1}))`,
  hoards: copying(`fs.writeFileSync('/quayside-run/a', Buffer.alloc(${8 * taskFiles.mostBytes}))`),
  hangs: copying(`console.log('up');setInterval(()=>{},1e6);process.on('SIGTERM',()=>process.exit(7))`),
}

function copying(then: string): string {
  return `fs.writeFileSync('${taskFiles.output}',fs.readFileSync('${taskFiles.input}')+' copied');${then}`
}

/** The Docker engine for the test suite of the files of tasks. */
export async function openTaskFilesBench(options: {
  readonly socketPath: string
  readonly image: string
}): Promise<TaskFilesBench> {
  const { engine, close } = await openDockerBench(options)
  const task = (program: FileProgram) => ({ ...taskOf(options.image, 'works'), ...node(filePrograms[program]) })
  return { engine, task, close }
}

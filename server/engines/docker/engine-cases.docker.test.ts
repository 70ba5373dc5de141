import assert from 'node:assert/strict'
import { findFreePort } from '../../../test/support/free-port.ts'
import { engineCases } from '../engine.cases.ts'
import { type DiskBench, diskCases, type Written } from '../engine.disk.cases.ts'
import { publishingCases } from '../engine.publishing.cases.ts'
import { shellCases } from '../engine.shell.cases.ts'
import { taskCases } from '../engine.tasks.cases.ts'
import { usageCases } from '../engine.usage.cases.ts'
import { node, openDockerBench, serve } from './test-bench.ts'
import { useTestImage } from './test-image.ts'
import { openTaskBench } from './test-task-bench.ts'

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
shellCases('docker', async () => {
  const size = `const size=()=>console.log('size '+process.stdout.columns+'x'+process.stdout.rows)`
  const answer = `(line)=>line==='exit'?process.exit(0):console.log('said '+line)`
  const source = `${size};setTimeout(size,200);process.stdout.on('resize',size);require('readline').createInterface({input:process.stdin}).on('line',${answer})`
  const echo = `process.stdin.on('data',(chunk)=>process.stdout.write(chunk)).on('end',()=>{process.exitCode=3})`
  return {
    ...(await openDockerBench({ socketPath, image })),
    terminalCommand: ['node', '-e', source],
    echoCommand: ['node', '-e', echo],
  }
})
usageCases('docker', async () => {
  const bench = await openDockerBench({ socketPath, image })
  const spin = `${serve(8080)};(function spin(){const end=Date.now()+50;while(Date.now()<end);setImmediate(spin)})()`
  return { ...bench, busy: () => ({ ...bench.workload('web'), cpuMilli: 300, ...node(spin) }), load: () => {} }
})
publishingCases('docker', async () => ({
  ...(await openDockerBench({ socketPath, image })),
  freePort: findFreePort,
}))

taskCases('docker', () => openTaskBench({ socketPath, image }))

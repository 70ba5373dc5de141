import { Readable } from 'node:stream'
import { pack } from 'tar-stream'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { docker, engine } from '../docker.ts'
import { limits } from '../stack.ts'

const directory = '/bare'

/** An image with sources that are applied, and so with their state. */
export interface Applied {
  /**
   * Measures how long one container takes that runs `init` and `plan`: create, start, end. In
   * milliseconds. Throws unless the plan changes nothing.
   */
  plan(): Promise<number>
  remove(): Promise<void>
}

/** Applies the sources in an image of OpenTofu by a build. */
export async function applyBare(runner: string, name: string, source: string): Promise<Applied> {
  const tag = `quayside-bench-floor-${name}`
  const files = pack()
  const apply = 'tofu init -input=false && tofu apply -input=false -auto-approve'
  const dockerfile = [
    `FROM ${runner}`,
    `WORKDIR ${directory}`,
    'COPY main.tf ./',
    `RUN ${apply}`,
    'RUN rm -rf .terraform',
  ]
  files.entry({ name: 'Dockerfile' }, `${dockerfile.join('\n')}\n`)
  files.entry({ name: 'main.tf' }, source)
  files.finalize()
  await engine.build(Readable.from(files, { objectMode: false }), tag)
  return {
    plan: () => planBare(tag),
    remove: async () => void (await docker('DELETE', `/images/${tag}`, { force: true })),
  }
}

async function planBare(image: string): Promise<number> {
  const startedAt = clock.monotonic()
  const container = await engine.createContainer({
    Image: image,
    WorkingDir: directory,
    Entrypoint: ['/bin/sh', '-c', 'tofu init -input=false -no-color && tofu plan -input=false -no-color -out=plan'],
    HostConfig: {
      NanoCpus: limits.cpuMilli * 1_000_000,
      Memory: limits.memoryMiB * 1024 * 1024,
      MemorySwap: limits.memoryMiB * 1024 * 1024,
      PidsLimit: 512,
    },
  })
  try {
    await container.start()
    const code = await container.wait()
    const took = clock.monotonic() - startedAt
    const printed = await container.output()
    if (code !== 0 || !printed.includes('No changes.')) throw new Error(`the bare plan ended with ${code}: ${printed}`)
    return took
  } finally {
    await container.remove()
  }
}

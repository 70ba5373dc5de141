import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pack } from 'tar-stream'
import { systemClock as clock } from '../../server/lib/clock.ts'
import type { TestContainer } from '../../test/support/docker.ts'
import { docker, engine } from '../docker.ts'
import { limits } from '../stack.ts'

const directory = '/bare'
const stateFile = 'terraform.tfstate'

/** An image with sources that are applied, and so with their state. */
export interface Applied {
  /**
   * Measures how long one container takes that runs `init` and `plan`: create, start, end. Its
   * network is the one that all containers share. In milliseconds. Throws unless the plan changes
   * nothing.
   */
  plan(): Promise<number>
  /**
   * The same in a container that is as apart as the one of a run: in a network of its own, and with
   * its state put into it before it starts.
   */
  planApart(): Promise<number>
  remove(): Promise<void>
}

/** Applies the sources in an image of OpenTofu by a build. */
export async function applyBare(runner: string, name: string, source: string): Promise<Applied> {
  const tag = `quayside-bench-floor-${name}`
  const apply = 'tofu init -input=false && tofu apply -input=false -auto-approve'
  const dockerfile = [
    `FROM ${runner}`,
    `WORKDIR ${directory}`,
    'COPY main.tf ./',
    `RUN ${apply}`,
    'RUN rm -rf .terraform',
  ]
  await engine.build(archive({ Dockerfile: `${dockerfile.join('\n')}\n`, 'main.tf': source }), tag)
  const state = await buffer(archive({ [stateFile]: await readState(tag) }))
  const removeNetwork = await engine.createNetwork({ Name: tag })
  return {
    plan: () => planBare(tag, async () => undefined),
    planApart: () => planBare(tag, (container) => container.put(state, directory), tag),
    remove: async () => {
      await removeNetwork()
      await docker('DELETE', `/images/${tag}`, { force: true })
    },
  }
}

function archive(files: Readonly<Record<string, string>>): Readable {
  const tar = pack()
  for (const [name, content] of Object.entries(files)) tar.entry({ name }, content)
  tar.finalize()
  return Readable.from(tar, { objectMode: false })
}

async function readState(image: string): Promise<string> {
  const container = await engine.createContainer({ Image: image, Entrypoint: ['cat', `${directory}/${stateFile}`] })
  try {
    await container.start()
    await container.wait()
    return await container.output()
  } finally {
    await container.remove()
  }
}

async function planBare(
  image: string,
  prepare: (container: TestContainer) => Promise<void>,
  network = 'bridge',
): Promise<number> {
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
      NetworkMode: network,
    },
  })
  try {
    await prepare(container)
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

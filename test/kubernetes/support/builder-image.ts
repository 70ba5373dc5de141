import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pack } from 'tar-stream'
import { DockerDaemon } from '../../../server/engines/docker/daemon.ts'
import { DockerEngine } from '../../../server/engines/docker/docker-engine.ts'
import { removeTestImage } from '../../../server/engines/docker/test-image.ts'
import { silent } from '../../../server/lib/attempt.ts'
import { systemClock as clock } from '../../../server/lib/clock.ts'
import { newId } from '../../../server/lib/id.ts'
import { run } from '../../../server/lib/run.ts'
import { findProgram } from '../../support/find-program.ts'
import { buildKitCache, ports } from '../cluster/settings.ts'
import { loopbackGuard } from './access.ts'

const socketPath = '/var/run/docker.sock'
const directory = 'usr/local/bin'

/**
 * Publishes an image of the builder in the registry of the test cluster: BuildKit and this
 * machine's `runc`, and nothing else. Returns its reference.
 */
export async function publishBuilderImage(): Promise<string> {
  const image = `quayside-builder-test/builder:${newId().slice(-8)}`
  await importImage(image)
  try {
    const engine = new DockerEngine({ socketPath, instance: 'test-publisher', clock, guard: loopbackGuard })
    const target = { repository: `localhost:${ports.registry}/quayside-builder-test/builder`, login: undefined }
    const attempt = { signal: AbortSignal.timeout(120_000), output: silent }
    return (await engine.pushImage(image, target, attempt)).reference
  } finally {
    await removeTestImage(socketPath, image)
  }
}

async function importImage(reference: string): Promise<void> {
  const tar = pack()
  const runc = await findProgram('runc')
  if (!runc) throw new Error('runc is not installed: apt-get install runc')
  const { stdout } = await run('ldd', [runc], { timeoutMs: 10_000 })
  const libraries = [...stdout.toString().matchAll(/(\/\S+) \(0x/g)].flatMap(([, path]) => path ?? [])
  const directories = new Set([directory, ...libraries.map((path) => dirname(path).slice(1))])
  for (const name of [...directories, 'tmp', 'etc']) tar.entry({ name: `${name}/`, type: 'directory', mode: 0o755 })
  for (const program of [join(buildKitCache, 'buildkitd'), join(buildKitCache, 'buildctl'), runc]) {
    tar.entry({ name: `${directory}/${basename(program)}`, mode: 0o755 }, await readFile(program))
  }
  for (const library of libraries) tar.entry({ name: library.slice(1), mode: 0o755 }, await readFile(library))
  tar.finalize()
  const [repo = reference, tag = 'latest'] = reference.split(':')
  const answer = await new DockerDaemon({ socketPath, clock }).stream({
    method: 'POST',
    path: '/images/create',
    query: { fromSrc: '-', repo, tag, changes: 'ENV PATH=/usr/local/bin' },
    file: await buffer(tar),
    signal: AbortSignal.timeout(60_000),
    timeoutMs: 60_000,
  })
  const text = (await buffer(answer)).toString()
  if (text.includes('"error"')) throw new Error(`the image of the builder could not be imported: ${text}`)
}

import { readdir, readFile, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pack } from 'tar-stream'
import { DockerDaemon } from '../../../server/engines/docker/daemon.ts'
import { DockerEngine } from '../../../server/engines/docker/docker-engine.ts'
import { removeTestImage } from '../../../server/engines/docker/test-image.ts'
import { silent } from '../../../server/lib/attempt.ts'
import { systemClock as clock } from '../../../server/lib/clock.ts'
import { newId } from '../../../server/lib/id.ts'
import { run } from '../../../server/lib/run.ts'
import { ports } from '../cluster/settings.ts'
import { loopbackGuard } from './access.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const socketPath = '/var/run/docker.sock'
const folders = ['router', 'contract', 'node_modules/undici']

/**
 * Publishes an image of the router in the registry of the test cluster, with this Node.js and
 * nothing else. Images with another mark have another digest. Returns its reference.
 */
export async function publishRouterImage(mark: string): Promise<string> {
  const image = `quayside-router-test/router:${newId().slice(-8)}`
  await importImage(image, mark)
  try {
    const engine = new DockerEngine({ socketPath, instance: 'test-publisher', clock, guard: loopbackGuard })
    const target = { repository: `localhost:${ports.registry}/quayside-router-test/router`, login: undefined }
    const attempt = { signal: AbortSignal.timeout(120_000), output: silent }
    return (await engine.pushImage(image, target, attempt)).reference
  } finally {
    await removeTestImage(socketPath, image)
  }
}

async function importImage(reference: string, mark: string): Promise<void> {
  const tar = pack()
  const node = await realpath(process.execPath)
  const { stdout } = await run('ldd', [node], { timeoutMs: 10_000 })
  const libraries = [...stdout.toString().matchAll(/(\/\S+) \(0x/g)].flatMap(([, path]) => path ?? [])
  const directories = new Set(['usr/local/bin', ...libraries.map((path) => dirname(path).slice(1))])
  for (const name of directories) tar.entry({ name: `${name}/`, type: 'directory', mode: 0o755 })
  tar.entry({ name: 'usr/local/bin/node', mode: 0o755 }, await readFile(node))
  for (const library of libraries) tar.entry({ name: library.slice(1), mode: 0o755 }, await readFile(library))
  for (const folder of folders) {
    for (const entry of await readdir(join(root, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || entry.name.endsWith('.test.ts')) continue
      const path = join(entry.parentPath, entry.name)
      tar.entry({ name: `app${path.slice(root.length)}`, mode: 0o644 }, await readFile(path))
    }
  }
  tar.entry({ name: 'app/node_modules/@quayside/contract', type: 'symlink', linkname: '../../contract' })
  tar.entry({ name: 'app/package.json', mode: 0o644 }, JSON.stringify({ type: 'module', description: mark }))
  tar.finalize()
  const [, repo = reference, tag = 'latest'] = /^(.*):([^/:]+)$/.exec(reference) ?? []
  const answer = await new DockerDaemon({ socketPath, clock }).stream({
    method: 'POST',
    path: '/images/create',
    query: { fromSrc: '-', repo, tag, changes: 'ENTRYPOINT ["/usr/local/bin/node", "/app/router/main.ts"]' },
    file: await buffer(tar),
    signal: AbortSignal.timeout(60_000),
    timeoutMs: 60_000,
  })
  const text = (await buffer(answer)).toString()
  if (text.includes('"error"')) throw new Error(`the image of the router could not be imported: ${text}`)
}

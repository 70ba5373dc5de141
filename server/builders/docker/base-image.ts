import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Pack, pack } from 'tar-stream'
import { run } from '../../lib/run.ts'
import { SocketHttp } from '../../lib/socket-http.ts'
import { listImages, removeTag } from './docker-images.ts'
import { readEvents } from './engine-events.ts'

/** A base image for Dockerfiles that need only Node. It is available without any registry. */
export const baseImage = 'quayside/node:24'

const baseLabel = 'quayside.base'

/**
 * Makes sure that the engine has `quayside/node:24`, and returns its name. The image has the Node
 * that runs this process and its libraries, a user `node` (1000:1000), `/tmp` and the machine's
 * certificate authorities. It has no shell and no package manager. Another version of Node rebuilds
 * it. Nothing is ever pulled.
 */
export async function ensureBaseImage(options: { readonly socketPath: string }, signal: AbortSignal): Promise<string> {
  const docker = new SocketHttp(options)
  const label = `node-${process.versions.node}-${process.arch}`
  const [former] = await listImages(docker, { reference: [baseImage] }, signal)
  if (former?.Labels?.[baseLabel] === label) return baseImage

  const libraries = await librariesOf(process.execPath, signal)
  const files = pack()
  const filling = fillImage(files, process.execPath, libraries)
  filling.catch((error: unknown) => files.destroy(error instanceof Error ? error : new Error(String(error))))
  const [repo, tag] = baseImage.split(':')
  const changes = [`LABEL ${baseLabel}=${label}`, 'ENV PATH=/usr/local/bin', 'CMD ["node"]']
  const answer = await docker.stream({
    method: 'POST',
    path: '/images/create',
    query: { fromSrc: '-', repo, tag, changes },
    file: Readable.from(files, { objectMode: false }),
    signal,
  })
  for await (const event of readEvents(answer)) {
    if (event.error !== undefined) throw new Error(`The engine could not make ${baseImage}: ${event.error}`)
  }
  await filling
  // The image of the previous Node remains while a container or another image uses it.
  if (former?.Labels?.[baseLabel]) await removeTag(docker, former.Id, signal)
  return baseImage
}

/**
 * Returns the paths of the shared libraries and the loader from the output of `ldd`. Throws if one
 * is missing.
 */
export function parseLibraries(lddOutput: string): string[] {
  return lddOutput.split('\n').flatMap((line) => {
    const [name = '', address = ''] = line.trim().split(' => ', 2)
    if (address.startsWith('not found')) throw new Error(`the shared library ${name} is not installed`)
    const [, path] = /^(\/\S+) \(0x[0-9a-f]+\)$/.exec(address || name) ?? []
    return path === undefined ? [] : [path]
  })
}

/** Older C libraries load these only when they resolve a host name, so `ldd` does not list them. */
const lateLibraries = ['libnss_dns.so.2', 'libnss_files.so.2', 'libresolv.so.2']

async function librariesOf(program: string, signal: AbortSignal): Promise<string[]> {
  const { exitCode, stdout, stderr } = await run('ldd', [program], { timeoutMs: 10_000, signal })
  if (exitCode !== 0) throw new Error(`ldd ${program} failed: ${stderr.trim()}`)
  const libraries = parseLibraries(stdout.toString())
  const directory = libraries.find((path) => path.endsWith('/libc.so.6'))
  const late = directory ? lateLibraries.map((name) => join(dirname(directory), name)) : []
  return [...libraries, ...late.filter((path) => !libraries.includes(path))]
}

const certificates = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt']

const accounts: Readonly<Record<string, string>> = {
  '/etc/passwd': 'root:x:0:0:root:/:/sbin/nologin\nnode:x:1000:1000:node:/tmp:/sbin/nologin\n',
  '/etc/group': 'root:x:0:\nnode:x:1000:\n',
  '/etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
}

async function fillImage(files: Pack, node: string, libraries: readonly string[]): Promise<void> {
  files.entry({ name: 'tmp/', type: 'directory', mode: 0o1777 })
  for (const [path, content] of Object.entries(accounts)) files.entry({ name: path.slice(1), mode: 0o644 }, content)
  for (const library of libraries) await addFile(files, library, library)
  await addFile(files, node, '/usr/local/bin/node')
  for (const bundle of certificates) await addFile(files, bundle, '/etc/ssl/certs/ca-certificates.crt', 0o644)
  files.finalize()
}

/** Leaves out a file that does not exist. */
async function addFile(files: Pack, from: string, to: string, mode = 0o755): Promise<void> {
  const size = await stat(from).then(
    (found) => found.size,
    () => undefined,
  )
  if (size === undefined) return
  const name = to.slice(1)
  if (size < 1024 * 1024) files.entry({ name, mode }, await readFile(from))
  else await pipeline(createReadStream(from), files.entry({ name, mode, size }))
}

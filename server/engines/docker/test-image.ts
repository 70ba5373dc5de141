import { readFile, realpath } from 'node:fs/promises'
import { dirname } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, before } from 'node:test'
import { pack } from 'tar-stream'
import { systemClock } from '../../lib/clock.ts'
import { newId } from '../../lib/id.ts'
import { run } from '../../lib/run.ts'
import { DockerDaemon } from './daemon.ts'

/** Imports an image for all tests of a file, which removes it at its end. */
export function useTestImage(): { readonly socketPath: string; readonly image: string } {
  const socketPath = '/var/run/docker.sock'
  const image = `quayside-engine-test/node:${newId().slice(-8)}`
  before(() => importTestImage(socketPath, image))
  after(() => removeTestImage(socketPath, image))
  return { socketPath, image }
}

/** The beginning of a program for SPARC. */
const ofAnotherArchitecture = Buffer.from('7f454c46020101000000000000000000020002000100', 'hex')

/**
 * Imports an image for tests without a registry. It contains only the running Node and the
 * libraries that it needs.
 */
export async function importTestImage(socketPath: string, reference: string): Promise<void> {
  const daemon = new DockerDaemon({ socketPath, clock: systemClock })
  const node = await realpath(process.execPath)
  const { stdout } = await run('ldd', [node], { timeoutMs: 10_000 })
  const libraries = [...stdout.toString().matchAll(/(\/\S+) \(0x/g)].flatMap(([, path]) => path ?? [])
  const tar = pack()
  const directories = new Set(['/tmp', '/usr/local/bin', ...libraries.map((path) => dirname(path))])
  for (const directory of directories) tar.entry({ name: `${directory.slice(1)}/`, type: 'directory', mode: 0o755 })
  tar.entry({ name: 'usr/local/bin/node', mode: 0o755 }, await readFile(node))
  tar.entry({ name: 'usr/local/bin/foreign', mode: 0o755 }, ofAnotherArchitecture)
  for (const library of libraries) tar.entry({ name: library.slice(1), mode: 0o755 }, await readFile(library))
  tar.finalize()
  // A registry's host may contain a port.
  const [, repository = reference, tag = 'latest'] = /^(.*):([^/:]+)$/.exec(reference) ?? []
  const response = await daemon.stream({
    method: 'POST',
    path: '/images/create',
    query: { fromSrc: '-', repo: repository, tag, changes: 'ENV PATH=/usr/local/bin' },
    file: await buffer(tar),
    signal: AbortSignal.timeout(60_000),
    timeoutMs: 60_000,
  })
  const answer = (await buffer(response)).toString()
  if (answer.includes('"error"')) throw new Error(`the test image could not be imported: ${answer}`)
}

export async function removeTestImage(socketPath: string, reference: string): Promise<void> {
  const daemon = new DockerDaemon({ socketPath, clock: systemClock })
  const signal = AbortSignal.timeout(60_000)
  await daemon.send({ method: 'DELETE', path: `/images/${reference}`, query: { force: true }, signal })
}

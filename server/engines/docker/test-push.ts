import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { pack } from 'tar-stream'
import { systemClock } from '../../lib/clock.ts'
import type { RegistryLogin } from '../engine.ts'
import { DockerDaemon, isRefusal } from './daemon.ts'
import { fetchedAs } from './local-name.ts'

const limit = (): AbortSignal => AbortSignal.timeout(60_000)
const daemonAt = (socketPath: string) => new DockerDaemon({ socketPath, clock: systemClock })

/** Makes a unique image of one file, small by default, under the reference `host/name:tag`. */
export async function makeSmallImage(socketPath: string, reference: string, bytes = 36): Promise<void> {
  const tar = pack()
  tar.entry({ name: 'who' }, randomBytes(bytes))
  tar.finalize()
  const [repo, tag] = taken(reference)
  await finish(
    daemonAt(socketPath).stream({
      method: 'POST',
      path: '/images/create',
      query: { fromSrc: '-', repo, tag },
      file: await buffer(tar),
      signal: limit(),
    }),
  )
}

/** Gives an image another name. */
export async function tagImage(socketPath: string, image: string, reference: string): Promise<void> {
  const [repo, tag] = taken(reference)
  await daemonAt(socketPath).send({
    method: 'POST',
    path: `/images/${image}/tag`,
    query: { repo, tag },
    signal: limit(),
  })
}

/** Creates a container of the image without starting it. Returns its id. */
export async function makeContainer(socketPath: string, image: string): Promise<string> {
  const body = { Image: image, Cmd: ['true'] }
  const call = { method: 'POST', path: '/containers/create', body, signal: limit() } as const
  return String(Object(await daemonAt(socketPath).json(call)).Id)
}

/** Makes a new image under the reference from an existing one: another command, no new layers. */
export async function changeImage(
  socketPath: string,
  from: string,
  reference: string,
  changes: readonly string[],
): Promise<void> {
  const daemon = daemonAt(socketPath)
  const container = await makeContainer(socketPath, from)
  const [repo, tag] = taken(reference)
  // The daemon takes several changes as one string of lines.
  const query = { container, repo, tag, changes: changes.join('\n') }
  await daemon.send({ method: 'POST', path: '/commit', query, signal: limit() })
  await daemon.send({ method: 'DELETE', path: `/containers/${container}`, query: { force: true }, signal: limit() })
}

/** Pushes the image of that name to its registry. */
export async function pushImage(socketPath: string, reference: string, login: RegistryLogin): Promise<void> {
  const [repo, tag] = taken(reference)
  await finish(
    daemonAt(socketPath).stream({
      method: 'POST',
      path: `/images/${repo}/push`,
      query: { tag },
      headers: registryAuth(login),
      signal: limit(),
      timeoutMs: 60_000,
    }),
  )
}

/**
 * Lets Docker itself pull an image by its digest, as earlier versions did. Only tests may do this:
 * Docker follows a registry's redirects anywhere.
 */
export async function pullImage(socketPath: string, reference: string, login: RegistryLogin): Promise<void> {
  const [fromImage, tag] = reference.split('@')
  await finish(
    daemonAt(socketPath).stream({
      method: 'POST',
      path: '/images/create',
      query: { fromImage, tag },
      headers: registryAuth(login),
      signal: limit(),
      timeoutMs: 60_000,
    }),
  )
}

/** Removes names and images if they exist. */
export async function removeImages(socketPath: string, references: readonly string[]): Promise<void> {
  for (const reference of references) {
    const call = { path: `/images/${reference}`, query: { force: true }, signal: limit() }
    await daemonAt(socketPath)
      .send({ method: 'DELETE', ...call })
      .catch((error: unknown) => {
        if (!isRefusal(error, 404)) throw error
      })
  }
}

/** Removes everything that has a name in the registry of that host. */
export async function removeImagesOf(socketPath: string, host: string): Promise<void> {
  const list = await daemonAt(socketPath).json({ method: 'GET', path: '/images/json', signal: limit() })
  // Docker's published API guarantees this shape.
  const images = list as { RepoTags?: string[] | null; RepoDigests?: string[] | null }[]
  const names = images.flatMap(({ RepoTags, RepoDigests }) => [...(RepoTags ?? []), ...(RepoDigests ?? [])])
  const ours = names.filter((name) => (fetchedAs(name) ?? name).startsWith(`${host}/`))
  await removeImages(socketPath, ours)
}

/** Docker's own pushes and pulls require a login in this header. The platform has no logins. */
function registryAuth({ username, password }: RegistryLogin): Record<string, string> {
  const said = Buffer.from(JSON.stringify({ username, password: password.reveal() })).toString('base64')
  return { 'x-registry-auth': said.replaceAll('+', '-').replaceAll('/', '_') }
}

function taken(reference: string): [string, string] {
  const colon = reference.lastIndexOf(':')
  return [reference.slice(0, colon), reference.slice(colon + 1)]
}

async function finish(opening: ReturnType<DockerDaemon['stream']>): Promise<void> {
  const said = (await buffer(await opening)).toString()
  if (said.includes('"error"')) throw new Error(`the engine said: ${said.slice(-500)}`)
}

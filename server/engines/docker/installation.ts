import { EngineError } from '../engine.ts'
import { absent, listContainers } from './containers.ts'
import { emptyImage } from './copy-helper.ts'
import type { DockerDaemon } from './daemon.ts'
import { label, labelFilter } from './labels.ts'
import { holderImage } from './network-holder.ts'

/**
 * Everything that an installation has on the engine: names of containers, networks and volumes, and
 * tags of images.
 */
export interface InstallationThings {
  readonly containers: readonly string[]
  readonly networks: readonly string[]
  readonly volumes: readonly string[]
  readonly images: readonly string[]
  /** Whether another installation uses the engine, too. */
  readonly isShared: boolean
}

/** The repository in which builds tag their base images. Tags begin with the installation. */
const baseRepository = 'base.quayside.invalid/image'

/** The repository of fetched images of BuildKit (server/builders/docker/find-builder-image.ts). */
const fetchedBuilders = 'quayside/builder-fetched'

interface Owner {
  readonly daemon: DockerDaemon
  readonly instance: string
}

interface Labelled {
  readonly Name: string
  readonly Labels?: Readonly<Record<string, string>> | null
}

/**
 * Lists the objects with the installation's label, the images that were built for `services` or for
 * a service that a label names, the tags of its builds on base images, and images of the platform
 * itself that no other installation uses.
 */
export async function listInstallation(
  { daemon, instance }: Owner,
  services: readonly string[],
  signal: AbortSignal,
): Promise<InstallationThings> {
  const filters = { label: [label.instance] }
  const [containers, networks, volumes, others] = await Promise.all([
    listContainers(daemon, { instance }, signal),
    listed(daemon, '/networks', labelFilter(instance), signal),
    listed(daemon, '/volumes', labelFilter(instance), signal),
    Promise.all([
      daemon.json({ method: 'GET', path: '/containers/json', query: { all: true, filters }, signal }),
      listed(daemon, '/networks', filters, signal),
      listed(daemon, '/volumes', filters, signal),
    ]),
  ])
  // Docker's published API guarantees this shape.
  const isShared = (others.flat() as Labelled[]).some(({ Labels }) => Labels?.[label.instance] !== instance)
  // A container of a builder belongs to no service.
  const known = new Set([...services, ...containers.flatMap(({ Labels }) => Labels[label.service] ?? [])])
  const images = (await listed(daemon, '/images/json', {}, signal)) as readonly { RepoTags?: string[] | null }[]
  const own = new Set(isShared ? [] : [emptyImage, holderImage])
  const isBuilt = (tag: string): boolean => {
    const service = /^quayside\/([^:/]+):/.exec(tag)?.[1]
    return service !== undefined && known.has(service)
  }
  const isOurs = (tag: string): boolean =>
    own.has(tag) ||
    (!isShared && tag.startsWith(`${fetchedBuilders}:`)) ||
    tag.startsWith(`${baseRepository}:${instance}-`) ||
    isBuilt(tag)
  return {
    containers: containers.map(({ Names, Id }) => Names[0]?.slice(1) ?? Id),
    networks: networks.map(({ Name }) => Name),
    volumes: volumes.map(({ Name }) => Name),
    images: images.flatMap(({ RepoTags }) => RepoTags ?? []).filter(isOurs),
    isShared,
  }
}

async function listed(
  daemon: DockerDaemon,
  path: string,
  filters: { readonly label?: string[] },
  signal: AbortSignal,
): Promise<readonly Labelled[]> {
  const answer = await daemon.json({ method: 'GET', path, query: { filters }, signal })
  // Docker wraps the list of volumes in an object.
  const list: unknown = path === '/volumes' ? Object(answer).Volumes : answer
  if (!Array.isArray(list)) throw new EngineError('unreachable', `Docker returned an invalid response to ${path}`)
  // Docker's published API guarantees this shape.
  return list as readonly Labelled[]
}

/** Removes these objects; ignores those already removed. Volumes lose their data. */
export async function removeInstallation(
  { daemon }: Owner,
  things: Omit<InstallationThings, 'isShared'>,
  signal: AbortSignal,
): Promise<void> {
  const remove = (path: string, query: Readonly<Record<string, boolean>> = {}) =>
    absent(daemon.send({ method: 'DELETE', path, query, signal, timeoutMs: 120_000 }))
  // Containers first: they use the other objects.
  for (const name of things.containers) await remove(`/containers/${name}`, { force: true, v: true })
  for (const name of things.networks) await remove(`/networks/${name}`)
  for (const name of things.volumes) await remove(`/volumes/${name}`)
  for (const tag of things.images) await remove(`/images/${tag}`)
}

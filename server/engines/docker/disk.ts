import { statfs } from 'node:fs/promises'
import { type EngineDisk, EngineError } from '../engine.ts'
import { trimBuilders } from './builder/trim-builders.ts'
import { type DockerDaemon, isRefusal } from './daemon.ts'
import { isImageId, parseReference } from './image-reference.ts'
import { label } from './labels.ts'
import { type InspectedImage, inspectPinned, namesOf, plainName, referencesTo } from './local-images.ts'
import { fetchedAs } from './local-name.ts'
import { countUnnamedVolumes } from './unnamed-volumes.ts'

/** The daemon measures every volume. */
const measureMs = 300_000

/** Parts of the daemon's answer, in the shape of its published API. */
interface SystemDisk {
  readonly Images?: readonly DiskImage[] | null
  readonly Volumes?:
    | readonly {
        readonly Name: string
        readonly Labels?: Readonly<Record<string, string>> | null
        readonly UsageData?: { readonly Size: number } | null
      }[]
    | null
  readonly Containers?:
    | readonly { readonly Labels?: Readonly<Record<string, string>> | null; readonly SizeRw?: number }[]
    | null
  readonly BuildCache?: readonly { readonly Size: number; readonly InUse: boolean; readonly Shared: boolean }[] | null
}
interface DiskImage {
  readonly Created: number
  readonly Size: number
  /** -1: unknown. */
  readonly SharedSize: number
  readonly Labels?: Readonly<Record<string, string>> | null
  readonly RepoTags?: readonly string[] | null
  readonly RepoDigests?: readonly string[] | null
}

/** Engine.disk for Docker. */
export async function measureDisk(daemon: DockerDaemon, instance: string, signal: AbortSignal): Promise<EngineDisk> {
  const [found, info] = await Promise.all([
    askUsage(daemon, signal),
    daemon.json({ method: 'GET', path: '/info', signal }) as Promise<{ DockerRootDir?: string }>,
  ])
  const { bsize, blocks, bavail } = await statfs(info.DockerRootDir ?? '/').catch(() => statfs('/'))
  const cache = (found.BuildCache ?? []).filter(({ Shared }) => !Shared)
  const sum = (list: readonly { readonly Size: number }[]): number => list.reduce((all, { Size }) => all + Size, 0)
  const ofBuilders = (found.Volumes ?? [])
    .filter(({ Labels }) => Labels?.[label.instance] === instance && Labels[label.builder] !== undefined)
    .reduce((all, { UsageData }) => all + Math.max(0, UsageData?.Size ?? 0), 0)
  return {
    totalBytes: bsize * blocks,
    freeBytes: bsize * bavail,
    images: (found.Images ?? []).map(toImage),
    volumes: (found.Volumes ?? []).flatMap(({ Labels, UsageData }) =>
      Labels?.[label.instance] === instance && Labels[label.builder] === undefined
        ? [
            {
              id: Labels[label.storage] ?? '',
              service: Labels[label.service],
              bytes: Math.max(0, UsageData?.Size ?? 0),
            },
          ]
        : [],
    ),
    layers: (found.Containers ?? []).flatMap(({ Labels, SizeRw = 0 }) => {
      const { service, release, run } = ownerOf(Labels, instance)
      return service && release && run === undefined ? [{ service, release, bytes: SizeRw }] : []
    }),
    runs: (found.Containers ?? []).flatMap(({ Labels, SizeRw = 0 }) => {
      const { service, run, isHolder } = ownerOf(Labels, instance)
      return service && run && !isHolder ? [{ service, run, bytes: SizeRw }] : []
    }),
    buildCache: {
      bytes: sum(cache) + ofBuilders,
      freeableBytes: sum(cache.filter(({ InUse }) => !InUse)) + ofBuilders,
    },
  }
}

/** Returns the owner of a container of this installation; nothing for another installation's. */
export function ownerOf(labels: Readonly<Record<string, string>> | null | undefined, instance: string) {
  const ours = labels?.[label.instance] === instance ? labels : {}
  const { [label.service]: service, [label.release]: release, [label.run]: run } = ours
  return { service, release, run, isHolder: ours[label.holder] !== undefined }
}

async function askUsage(daemon: DockerDaemon, signal: AbortSignal): Promise<SystemDisk> {
  try {
    const answer = await daemon.json({ method: 'GET', path: '/system/df', signal, timeoutMs: measureMs })
    return countUnnamedVolumes(answer as SystemDisk)
  } catch (error) {
    // Older daemons measure for one caller at a time.
    if (!isRefusal(error, 500) || !/already running/.test(error.message)) throw error
    throw new EngineError('unreachable', 'Docker is already measuring its disk; try again later')
  }
}

function toImage({
  Created,
  Size,
  SharedSize,
  Labels,
  RepoTags,
  RepoDigests,
}: DiskImage): EngineDisk['images'][number] {
  const isBuilt = Labels?.[label.service] !== undefined
  return {
    references: [
      ...(RepoTags ?? []).filter((tag) => fetchedAs(tag) === undefined),
      ...referencesTo({ RepoTags, RepoDigests }),
    ],
    services: isBuilt ? [...new Set((RepoTags ?? []).flatMap(serviceOf))] : [],
    bytes: Math.max(0, Size - Math.max(0, SharedSize)),
    createdAt: new Date(Created * 1000),
  }
}

/** The label names the service for which it was built, the tags those that have it now. */
const serviceOf = (tag: string): string[] => /^quayside\/([^:/]+):/.exec(tag)?.slice(1) ?? []

/** Engine.removeImage for Docker. */
export async function removeImage(daemon: DockerDaemon, reference: string, signal: AbortSignal): Promise<boolean> {
  if (!isImageId(reference) && parseReference(reference).digest === undefined) {
    throw new EngineError('refused', `"${reference}" is not pinned: only images with a digest can be removed`)
  }
  try {
    const found = await inspectPinned(daemon, reference, signal)
    if (found && isOthers(found, reference)) return false
    const names = isImageId(reference) ? [reference] : namesOf(reference)
    for (const name of found ? names : []) await removeName(daemon, name, signal)
    return true
  } catch (error) {
    if (isRefusal(error, 409)) return false
    throw error
  }
}

/**
 * Returns whether somebody else gave the image a name. A tag that one of our fetches gave it does
 * not count.
 */
function isOthers({ RepoTags, RepoDigests }: InspectedImage, reference: string): boolean {
  if ((RepoTags ?? []).some((tag) => fetchedAs(tag) === undefined)) return true
  return referencesTo({ RepoDigests }).some((other) => isImageId(reference) || other !== plainName(reference))
}

/** The image is removed with the last of its names. */
async function removeName(daemon: DockerDaemon, name: string, signal: AbortSignal): Promise<void> {
  try {
    await daemon.send({
      method: 'DELETE',
      path: `/images/${name}`,
      query: { noprune: false },
      signal,
      timeoutMs: 120_000,
    })
  } catch (error) {
    if (!isRefusal(error, 404)) throw error
  }
}

/**
 * Engine.trimBuildCache for Docker. Trims the engine's own cache, and the caches of the platform's
 * daemons of BuildKit, which keep equal shares.
 */
export async function trimBuildCache(
  { daemon, instance }: { readonly daemon: DockerDaemon; readonly instance: string },
  keepBytes: number,
  signal: AbortSignal,
): Promise<number> {
  const query = { all: true, 'keep-storage': Math.floor(keepBytes) }
  const answer = await daemon.json({ method: 'POST', path: '/build/prune', query, signal, timeoutMs: measureMs })
  await trimBuilders({ daemon, instance }, keepBytes, signal)
  return Number(Object(answer).SpaceReclaimed ?? 0)
}

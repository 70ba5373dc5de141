import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startDeadline } from '../../lib/deadline.ts'
import { killGroup, start } from '../../lib/run.ts'
import { EngineError, type InodeCounts } from '../engine.ts'
import { listContainers } from './containers.ts'
import { type DockerDaemon, isRefusal } from './daemon.ts'
import { ownerOf } from './disk.ts'
import { label, labelFilter } from './labels.ts'

/** The time limit of one directory. The inodes counted by then are its count. */
const directoryMs = 60_000
/** The time limit of all directories. Those not reached by then are omitted. */
const allMs = 300_000

interface Source {
  readonly daemon: DockerDaemon
  readonly instance: string
  /** The directory of the daemon's data. */
  readonly root: string
}

/** Engine.countInodes for Docker. */
export async function countInodes(source: Source, most: number, signal: AbortSignal): Promise<InodeCounts | undefined> {
  if (!(await canRead(join(source.root, 'volumes')))) return undefined
  const all = startDeadline(allMs, signal)
  const count = (directory: string): Promise<number> =>
    all.isOver ? Promise.resolve(0) : countIn(directory, most, all.signal)
  const layers: InodeCounts['layers'][number][] = []
  const runs: InodeCounts['runs'][number][] = []
  const volumes: InodeCounts['volumes'][number][] = []
  const storages = await listVolumes(source, signal)
  for (const { owner, directories } of await listLayers(source, new Set(storages.map(({ name }) => name)), signal)) {
    const { service, release, run, isHolder } = owner
    if (service === undefined || isHolder) continue
    let inodes = 0
    for (const directory of directories) inodes += await count(directory)
    if (run !== undefined) runs.push({ service, run, inodes })
    else if (release !== undefined) layers.push({ service, release, inodes })
  }
  for (const { id, directory } of storages) volumes.push({ id, inodes: await count(directory) })
  signal.throwIfAborted()
  return { volumes, layers, runs }
}

const canRead = (directory: string): Promise<boolean> =>
  access(directory, constants.R_OK | constants.X_OK).then(
    () => true,
    () => false,
  )

/** Those of storages. */
async function listVolumes({ daemon, instance }: Source, signal: AbortSignal) {
  const query = { filters: labelFilter(instance) }
  // The shape is that of Docker's published API.
  const { Volumes } = (await daemon.json({ method: 'GET', path: '/volumes', query, signal })) as {
    Volumes?:
      | readonly {
          readonly Name: string
          readonly Labels?: Readonly<Record<string, string>>
          readonly Mountpoint: string
        }[]
      | null
  }
  return (Volumes ?? []).map(({ Name, Labels, Mountpoint }) => {
    return { name: Name, id: Labels?.[label.storage] ?? '', directory: Mountpoint }
  })
}

/**
 * A volume that an image declares counts as part of the layer, because it is removed with the
 * container.
 */
async function listLayers({ daemon, instance }: Source, storages: ReadonlySet<string>, signal: AbortSignal) {
  const layers = []
  for (const { Id, Labels } of await listContainers(daemon, { instance }, signal)) {
    const found = await inspectPlaces(daemon, Id, signal)
    const unnamed = (found?.Mounts ?? []).filter(({ Type, Name }) => Type === 'volume' && !storages.has(Name ?? ''))
    const upper = found?.GraphDriver?.Data?.UpperDir
    const directories = [...unnamed.map(({ Source }) => Source), upper].filter((one) => one !== undefined)
    layers.push({ owner: ownerOf(Labels, instance), directories })
  }
  return layers
}

interface Places {
  /** Storage drivers that keep a layer without a directory of its own report none. */
  readonly GraphDriver?: { readonly Data?: { readonly UpperDir?: string } | null }
  readonly Mounts?: readonly { readonly Type?: string; readonly Name?: string; readonly Source?: string }[] | null
}

async function inspectPlaces(daemon: DockerDaemon, id: string, signal: AbortSignal): Promise<Places | undefined> {
  try {
    // The shape is that of Docker's published API.
    return (await daemon.json({ method: 'GET', path: `/containers/${id}/json`, signal })) as Places
  } catch (error) {
    if (isRefusal(error, 404)) return undefined
    throw error
  }
}

/**
 * Counts up to `most` and a little more, so that no tree takes much longer than others. A file with
 * several names counts once.
 */
async function countIn(directory: string, most: number, signal: AbortSignal): Promise<number> {
  const list = ['find', directory, '-xdev', '-printf', '%y%n\\n']
  const child = start('nice', ['-n', '19', ...list], { cwd: '/', stdio: ['ignore', 'pipe', 'ignore'] })
  const { signal: ended } = startDeadline(directoryMs, signal)
  const end = (): void => killGroup(child)
  if (ended.aborted) end()
  ended.addEventListener('abort', end, { once: true })
  const failed = new Promise<never>((_, reject) => void child.once('error', reject))
  failed.catch(() => {})
  let count = 0
  try {
    if (!child.stdout) return 0
    const lines = createInterface({ input: child.stdout })
    const read = async (): Promise<void> => {
      for await (const line of lines) {
        count += line.startsWith('d') ? 1 : 1 / Math.max(1, Number(line.slice(1)))
        if (count > most + 1) break
      }
    }
    await Promise.race([read(), failed])
    // A directory counts itself.
    if (count > 0 || ended.aborted || !(await canRead(directory))) return Math.round(count)
    throw new EngineError('refused', `find could not list ${directory}; install GNU find (package findutils)`)
  } finally {
    ended.removeEventListener('abort', end)
    end()
  }
}

import { watch } from 'node:fs'
import { access, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/error.ts'
import type { BuildLimits } from '../builder.ts'
import type { StepPorts } from './step-ports.ts'

/**
 * Limits memory, cores and processes of build steps. Measured with Docker 20.10: BuildKit ignores
 * `memory`, `cpuquota`, `cpushares`, `ulimits` and `cgroupparent` of a build request. Each step
 * runs in its own control group below `docker/buildkit`. Root on the engine's machine can set the
 * limits of each group as it appears, before the step is fully set up. On a busy machine containers
 * come before builds: all steps together get an eighth of the CPU share of one container.
 *
 * Every *step* gets the limit, so parallel steps of one build each get it. A step does not show
 * which build it belongs to, so the highest limit applies while builds with different limits run.
 * Verified on cgroup v1 with the cgroupfs driver. Version 2 and the systemd driver follow the same
 * layout rules, unverified.
 */
export interface StepLimits {
  /**
   * Applies the limits to all steps that begin before `release`. `enforced` is false if this
   * process lacks the rights. `failed` gets a message if a step could not be limited or isolated.
   */
  hold(limits: BuildLimits, failed: (problem: string) => void): Promise<{ readonly enforced: boolean; release(): void }>
}

export interface CgroupLayout {
  readonly version: 1 | 2
  readonly driver: string
}

type Caps = Pick<BuildLimits, 'cpuMilli' | 'memoryMiB'>

const maxProcesses = 2048

/**
 * Creates StepLimits. `layout` describes the engine's control groups, `root` is their mount point.
 * With `ports`, each new step is isolated from the others too.
 */
export function createStepLimits(
  layout: CgroupLayout,
  clock: Clock,
  { root = '/sys/fs/cgroup', ports }: { readonly root?: string; readonly ports?: StepPorts } = {},
): StepLimits {
  const held = new Map<BuildLimits, (problem: string) => void>()
  const place = stepPlace(layout, root)
  const failing = (what: string) => (error: unknown) => {
    for (const failed of held.values()) failed(`${what}: ${messageOf(error)}`)
  }
  let watching: Promise<{ close(): void } | undefined> | undefined
  const thaw = (name: string) => setFrozen(layout.version, join(place.directory('freezer'), name), false)
  const onStep = (name: string): Promise<unknown> =>
    Promise.all([
      Promise.all(
        limitFiles(layout.version, highest(held.keys())).map((file) => apply(place, name, file, clock)),
      ).catch(failing('Memory and cores of one step are not limited')),
      ports
        ?.keepApart({
          processes: () => processesOf(join(place.watched, name)),
          setFrozen: (isFrozen) => setFrozen(layout.version, join(place.directory('freezer'), name), isFrozen),
        })
        .catch(failing('One step is not kept apart from steps of other builds')),
    ])
  return {
    async hold(given, failed) {
      // Two builds may hold equal limits.
      const limits = { ...given }
      held.set(limits, failed)
      watching ??= watchSteps(place, { onStep, thaw }, weightFile(layout.version))
      const watcher = await watching
      const release = (): void => {
        held.delete(limits)
        if (held.size > 0) return
        watching = undefined
        watcher?.close()
      }
      return { enforced: watcher !== undefined, release }
    },
  }
}

interface StepPlace {
  /** Returns a controller's directory in which the groups of steps appear. */
  directory(controller: string): string
  readonly watched: string
  /** Whether all steps share a directory with nothing else in it. */
  readonly isShared: boolean
  readonly isStep: RegExp
}

export function stepPlace({ version, driver }: CgroupLayout, root: string): StepPlace {
  const systemd = driver === 'systemd'
  const directory = (controller: string): string =>
    join(root, ...(version === 1 ? [controller] : []), ...(systemd ? [] : ['docker', 'buildkit']))
  return {
    directory,
    watched: directory('memory'),
    isShared: !systemd,
    isStep: systemd ? /^system\.slice:docker:[a-z0-9]{25}$/ : /^[a-z0-9]{25}$/,
  }
}

interface LimitFile {
  readonly controller: string
  readonly name: string
  readonly value: string
  /** Missing on some kernels (swap accounting). */
  readonly optional?: true
}

/** Returns the file that gives a group an eighth of a container's CPU share. */
function weightFile(version: 1 | 2): LimitFile {
  const file = version === 2 ? { name: 'cpu.weight', value: '12' } : { name: 'cpu.shares', value: '128' }
  return { controller: 'cpu', ...file, optional: true }
}

/** Returns what to write into a step's control group, in this order for each controller. */
export function limitFiles(version: 1 | 2, { cpuMilli, memoryMiB }: Caps): LimitFile[][] {
  const bytes = String(memoryMiB * 1024 * 1024)
  const period = 100_000
  const quota = Math.max(1000, Math.round((cpuMilli / 1000) * period))
  const pids: LimitFile[] = [{ controller: 'pids', name: 'pids.max', value: String(maxProcesses) }]
  if (version === 2) {
    return [
      [{ controller: 'cpu', name: 'cpu.max', value: `${quota} ${period}` }],
      [
        { controller: 'memory', name: 'memory.max', value: bytes },
        { controller: 'memory', name: 'memory.swap.max', value: '0', optional: true },
      ],
      pids,
    ]
  }
  return [
    [
      { controller: 'cpu', name: 'cpu.cfs_period_us', value: String(period) },
      { controller: 'cpu', name: 'cpu.cfs_quota_us', value: String(quota) },
    ],
    [
      { controller: 'memory', name: 'memory.limit_in_bytes', value: bytes },
      { controller: 'memory', name: 'memory.memsw.limit_in_bytes', value: bytes, optional: true },
    ],
    pids,
  ]
}

function highest(held: Iterable<Caps>): Caps {
  let cpuMilli = 0
  let memoryMiB = 0
  for (const limits of held) {
    cpuMilli = Math.max(cpuMilli, limits.cpuMilli)
    memoryMiB = Math.max(memoryMiB, limits.memoryMiB)
  }
  return { cpuMilli, memoryMiB }
}

async function watchSteps(
  place: StepPlace,
  { onStep, thaw }: Record<'onStep' | 'thaw', (name: string) => Promise<unknown>>,
  weight: LimitFile,
): Promise<{ close(): void } | undefined> {
  try {
    await mkdir(place.watched, { recursive: true })
    if (place.isShared) await makeYield(place, weight)
    const seen = new Set(await readdir(place.watched))
    // A killed server may have left one frozen.
    for (const name of seen) if (place.isStep.test(name)) await thaw(name)
    const watcher = watch(place.watched, (_event, name) => {
      if (name === null || seen.has(name) || !place.isStep.test(name)) return
      seen.add(name)
      void onStep(name)
    })
    watcher.unref()
    return watcher
  } catch {
    // Not root, another layout, or not the engine's machine. Builds run without these limits and
    // report it.
    return undefined
  }
}

/** Returns the processes of a group; undefined once the group is gone. */
async function processesOf(group: string): Promise<number[] | undefined> {
  const listed = await readFile(join(group, 'cgroup.procs'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENODEV') return undefined
    throw error
  })
  return listed?.split('\n').filter(Boolean).map(Number)
}

/** Freezes or thaws a group. Does nothing if it is gone. */
async function setFrozen(version: 1 | 2, group: string, isFrozen: boolean): Promise<void> {
  const [name, value] =
    version === 2 ? ['cgroup.freeze', isFrozen ? '1' : '0'] : ['freezer.state', isFrozen ? 'FROZEN' : 'THAWED']
  const path = join(group, name)
  if (await exists(path)) await writeFile(path, value)
}

async function makeYield(place: StepPlace, { controller, name, value }: LimitFile): Promise<void> {
  const directory = place.directory(controller)
  await mkdir(directory, { recursive: true })
  const path = join(directory, name)
  if (await exists(path)) await writeFile(path, value)
}

/** Writes the files of one controller. Its directory may appear later than the watched one. */
async function apply(place: StepPlace, step: string, files: readonly LimitFile[], clock: Clock): Promise<void> {
  for (const { controller, name, value, optional } of files) {
    const path = join(place.directory(controller), step, name)
    for (let attempt = 0; attempt < 40 && !optional; attempt++) {
      if (await exists(path)) break
      await clock.sleep(5)
    }
    if (await exists(path)) await writeFile(path, value)
  }
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

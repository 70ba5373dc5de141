import { mkdir, readFile, rmdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from './until.ts'

const version1 = '/sys/fs/cgroup/memory'
const version2 = '/sys/fs/cgroup'

interface Names {
  readonly parent: string
  readonly limit: string
  readonly peak: string
}

/** Finds a usable control group that limits memory. Returns undefined if the kernel has none. */
async function findNames(): Promise<Names | undefined> {
  if (await isThere(join(version1, 'memory.limit_in_bytes')))
    return { parent: version1, limit: 'memory.limit_in_bytes', peak: 'memory.max_usage_in_bytes' }
  const given = await readFile(join(version2, 'cgroup.subtree_control'), 'utf8').catch(() => '')
  return given.includes('memory') ? { parent: version2, limit: 'memory.max', peak: 'memory.peak' } : undefined
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

/** Returns why no process can be limited here, or undefined if it can. */
export async function whyNoMemoryLimit(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'a memory limit needs root'
  return (await findNames()) ? undefined : 'this kernel has no control group for memory'
}

/**
 * A limit on the memory that a process allocates from now on. The kernel kills it above the limit.
 */
export interface MemoryLimit {
  /** Returns the most bytes that the process has allocated at a time since then. */
  peak(): Promise<number>
  remove(): Promise<void>
}

export async function limitMemory(pid: number, moreBytes: number): Promise<MemoryLimit> {
  const names = await findNames()
  if (!names) throw new Error('no control group for memory')
  const group = join(names.parent, `quayside-test-${process.pid}`)
  await mkdir(group)
  await writeFile(join(group, names.limit), String(moreBytes))
  // Memory that the process already has is charged to its previous group.
  await writeFile(join(group, 'cgroup.procs'), String(pid))
  return {
    peak: async () => Number(await readFile(join(group, names.peak), 'utf8')),
    remove: async () => {
      await writeFile(join(names.parent, 'cgroup.procs'), String(pid)).catch(ended)
      await until('the group is removed', () =>
        rmdir(group).then(
          () => true,
          () => false,
        ),
      )
    },
  }
}

const ended = (error: unknown): void => {
  if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
}

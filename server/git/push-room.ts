import { readdir } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { run } from '../lib/run.ts'
import type { GitProgram } from './git-program.ts'
import { type HostLimits, PushRefused } from './host-limits.ts'

/** Timeout of measuring the disk. */
const measureMs = 20_000

/**
 * Limits the size of a push. Pushes in progress reserve their share, so together they stay within
 * the limits.
 */
export interface PushRoom {
  /**
   * Throws PushRefused if the organization may not have another repository, or has no room. `path`:
   * of a repository that does not exist.
   */
  checkNew(path: string, signal: AbortSignal): Promise<void>
  /**
   * `bytes` is 0 if nothing may be added. References can still be deleted then. Disposing returns
   * the share.
   */
  reserve(path: string, signal: AbortSignal): Promise<Disposable & { readonly bytes: number; readonly full: string }>
}

/**
 * Returns how many bytes an organization may add to the current size of its repositories, and the
 * reason if it may add none.
 */
export type OrganizationSpare = (
  organization: string,
  repositoryBytes: number,
) => Promise<{ readonly bytes: number; readonly full: string }>

/** No limit on the total of an organization. */
const unlimited: OrganizationSpare = async () => ({ bytes: Number.MAX_SAFE_INTEGER, full: '' })

export function createPushRoom(program: GitProgram, limits: HostLimits, spareOf = unlimited): PushRoom {
  /** By the directory of the organization, and by that of the repository. */
  const reserved = new Map<string, number>()
  /**
   * One entry for each measurement in progress. It may have missed the data of a push that has
   * ended meanwhile.
   */
  const measurements = new Set<(path: string, bytes: number) => void>()
  const giveBack = (path: string, bytes: number): void => {
    for (const note of measurements) note(path, bytes)
    change(path, -bytes)
  }
  const change = (path: string, by: number): void => {
    for (const name of [path, dirname(path)]) {
      const now = (reserved.get(name) ?? 0) + by
      if (now === 0) reserved.delete(name)
      else reserved.set(name, now)
    }
  }
  return {
    async checkNew(path, signal) {
      const organization = dirname(path)
      const found = await readdir(organization).catch(() => [])
      if (found.filter((name) => name.endsWith('.git')).length >= limits.repositories) {
        throw new PushRefused(
          `The organization has ${limits.repositories} repositories, which is the limit. Delete one first.`,
        )
      }
      const [used = 0] = found.length > 0 ? await measure(organization, [organization], signal) : []
      const spare = await spareOf(basename(organization), used)
      const left = limits.organizationBytes - used - (reserved.get(organization) ?? 0)
      const full = whyFull({ repository: limits.repositoryBytes, organization: left, refs: 0 }, limits) || spare.full
      if (full) throw new PushRefused(full)
    },
    async reserve(path, signal) {
      const organization = dirname(path)
      const ended = { repository: 0, organization: 0 }
      const note = (of: string, bytes: number): void => {
        if (of === path) ended.repository += bytes
        if (dirname(of) === organization) ended.organization += bytes
      }
      measurements.add(note)
      const [{ used, spare }, refs] = await Promise.all([
        measure(organization, [path, organization], signal).then(async ([repository = 0, all = 0]) => ({
          used: { repository, organization: all },
          spare: await spareOf(basename(organization), all),
        })),
        countRefs(program, path, limits.refs, signal),
      ]).finally(() => measurements.delete(note))
      const others = ended.organization + (reserved.get(organization) ?? 0)
      const left = {
        repository: limits.repositoryBytes - used.repository - ended.repository - (reserved.get(path) ?? 0),
        organization: limits.organizationBytes - used.organization - others,
      }
      const full = whyFull({ ...left, refs }, limits) || spare.full
      const room = Math.min(limits.pushBytes, left.repository, left.organization, Math.max(1, spare.bytes - others))
      const bytes = full ? 0 : room
      change(path, bytes)
      return { bytes, full, [Symbol.dispose]: () => giveBack(path, bytes) }
    },
  }
}

/** Returns the reason why nothing may be added, empty if something may. */
export function whyFull(
  left: { readonly repository: number; readonly organization: number; readonly refs: number },
  limits: HostLimits,
): string {
  const free = 'Delete branches or repositories that nobody needs, or ask the operator for more.'
  if (left.refs >= limits.refs) return `The repository has ${limits.refs} references, which is the limit. ${free}`
  if (left.repository <= 0) return `The repository takes ${inMiB(limits.repositoryBytes)}, which is the limit. ${free}`
  if (left.organization > 0) return ''
  return `The repositories of the organization take ${inMiB(limits.organizationBytes)}, which is the limit. ${free}`
}

const inMiB = (bytes: number): string => `${Math.round(bytes / 1024 ** 2)} MiB`

/** Returns the bytes on disk of each path: a directory or a direct entry of it. */
async function measure(directory: string, paths: readonly string[], signal: AbortSignal): Promise<number[]> {
  const args = ['-k', '-x', '--max-depth=1', '--', directory]
  const { stdout, exitCode } = await run('du', args, { signal, timeoutMs: measureMs, stdin: '' })
  const lines = stdout.toString().split('\n')
  return paths.map((path) => {
    const line = lines.find((text) => text.endsWith(`\t${path}`))
    // Files of a push that ends meanwhile disappear during the measurement, which du reports by its
    // exit code.
    if (line !== undefined) return Number.parseInt(line, 10) * 1024
    throw new Error(`the size of ${basename(path)} could not be measured (exit code ${exitCode})`)
  })
}

async function countRefs(program: GitProgram, path: string, most: number, signal: AbortSignal): Promise<number> {
  const args = ['for-each-ref', `--count=${most}`, '--format=x']
  const { stdout } = await program.run({ gitDirectory: path, args, signal, timeoutMs: measureMs })
  return stdout.length / 2
}

import type { HelmSession } from './helm-program.ts'

/** One revision of a release in Helm, oldest first. */
export interface Revision {
  readonly revision: number
  readonly status: string
  readonly description: string
}

/** The action that restores the last complete revision. */
export type Repair = { readonly rollbackTo: number } | 'uninstall' | undefined

/** How many revisions Helm keeps. */
export const keptRevisions = 5

/** Returns the revisions of a release; none if it is not installed. */
export async function readHistory(session: HelmSession, name: string, signal: AbortSignal): Promise<Revision[]> {
  const args = ['history', name, '--output', 'json', '--max', `${keptRevisions * 2}`]
  const { exitCode, stdout, stderr } = await session.run(args, { timeoutMs: 60_000, signal })
  if (exitCode !== 0) {
    if (stderr.includes('release: not found')) return []
    throw new Error(`helm history failed: ${stderr.trim()}`)
  }
  const revisions: unknown = JSON.parse(stdout.toString())
  return Array.isArray(revisions) ? revisions.map(toRevision).sort((a, b) => a.revision - b.revision) : []
}

function toRevision(value: unknown): Revision {
  const { revision, status, description } = Object(value)
  return { revision: Number(revision), status: String(status), description: String(description ?? '') }
}

/**
 * Returns what puts a release right whose last change failed or was cut off. The revision of the
 * release `failed` of the platform counts as such a change, even if it was installed. Pure.
 */
export function repairOf(revisions: readonly Revision[], failed?: string): Repair {
  const last = revisions.at(-1)
  if (last === undefined || (last.status === 'deployed' && last.description !== failed)) return undefined
  const whole = revisions.findLast(
    ({ status, description }) => (status === 'deployed' || status === 'superseded') && description !== failed,
  )
  const isLeaving = last.status === 'uninstalling' || last.status === 'uninstalled'
  return whole && !isLeaving ? { rollbackTo: whole.revision } : 'uninstall'
}

/** Whether this release of the platform was installed completely. Pure. */
export const isInstalled = (revisions: readonly Revision[], releaseId: string): boolean => {
  const last = revisions.at(-1)
  return last?.status === 'deployed' && last.description === releaseId
}

import { type Database, type DueReconciler, inTransaction } from '../database/index.ts'
import { type GitHost, type Heads, hostedKey, isBranchName, type PushWatch } from '../git/index.ts'
import type { Clock } from '../lib/clock.ts'
import { failpoint } from '../lib/failpoint.ts'
import { newId } from '../lib/id.ts'
import type { Logger } from '../lib/log.ts'
import type { Workflows } from '../workflows/index.ts'
import {
  deleteAllBranches,
  deleteBranches,
  deleteHosted,
  deleteReceive,
  findHosted,
  type Hosted,
  hasReceive,
  insertHosted,
  insertReceive,
  listReceives,
  type ReceiveRow,
  raiseVersion,
  upsertBranches,
} from './hosted-store.ts'
import { type Push, recordPush } from './push.ts'

export interface HostedPushesOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
  /** Called when needed, because the git host is created first. */
  readonly workflows: () => Pick<Workflows, 'submit' | 'nudge'>
  readonly gitHost: () => Pick<GitHost, 'heads'>
  /** Time limit of git for one push. */
  readonly longestPushMs?: number
}

/**
 * The listener of the built-in git host, and the reconciler for pushes that a killed server could
 * not record.
 */
export interface HostedPushes {
  readonly watch: PushWatch
  readonly reconciler: DueReconciler
}

/**
 * Detects pushes to the built-in git host. It records that a push begins before git accepts it.
 * When git has ended, and before the client gets its answer, it compares the branches with the
 * recorded ones. If the server dies in between, the reconciler finds the push by the same
 * comparison, until git can no longer be working on it.
 */
export function createHostedPushes(options: HostedPushesOptions): HostedPushes {
  const { database, clock, log, longestPushMs = 11 * 60_000 } = options
  const underWay = new Set<string>()

  const begin: PushWatch['begin'] = async ({ organization, repository, pusher, heads }) => {
    const hosted = { organizationId: organization, repository }
    const receive = {
      id: newId(),
      organization_id: organization,
      repository,
      pusher,
      started_at: clock.now(),
    }
    const before = await heads()
    underWay.add(receive.id)
    try {
      await inTransaction(database, async (sql) => {
        // Commits that were in it before its first push were not pushed.
        if (await insertHosted(sql, hosted)) await upsertBranches(sql, hosted, [...before])
        // Someone removed the repository from the disk, so the same commits are new to it.
        else if (before.size === 0) await deleteAllBranches(sql, hosted)
        await insertReceive(sql, receive)
      })
    } catch (error) {
      underWay.delete(receive.id)
      throw error
    }
    return async () => {
      if (!underWay.has(receive.id)) return
      try {
        failpoint('push.received')
        await writeDown(options, receive, heads, true)
        failpoint('push.recorded')
      } catch (error) {
        log.warn({ err: error, repository }, 'a push is not recorded yet; its branches will be compared again')
      } finally {
        underWay.delete(receive.id)
      }
    }
  }

  const forget: PushWatch['forget'] = async ({ organization, repository }) => {
    try {
      await deleteHosted(database, { organizationId: organization, repository })
    } catch (error) {
      log.warn({ err: error, repository }, 'the record of an empty repository is not deleted')
    }
  }

  return {
    watch: { begin, forget },
    reconciler: {
      name: 'pushes',
      everyMs: 60_000,
      due: hasReceive,
      reconcile: async (signal) => {
        for (const receive of await listReceives(database)) {
          if (underWay.has(receive.id)) continue
          const { organization_id, repository, started_at } = receive
          const isOver = clock.now().getTime() - started_at.getTime() > longestPushMs
          await writeDown(options, receive, () => options.gitHost().heads(organization_id, repository, signal), isOver)
        }
      },
    },
  }
}

/**
 * Compares the branches and records what was pushed. `isOver`: this push cannot change anything any
 * more.
 */
async function writeDown(
  { database, clock, log, workflows }: HostedPushesOptions,
  receive: ReceiveRow,
  readHeads: () => Promise<Heads>,
  isOver: boolean,
): Promise<void> {
  const hosted: Hosted = { organizationId: receive.organization_id, repository: receive.repository }
  for (;;) {
    const known = await findHosted(database, hosted)
    if (!known) return
    // Read after the recorded branches: a concurrent writer raises the version.
    const { pushed, removed } = compareHeads(known.heads, await readHeads())
    if (pushed.length + removed.length === 0) {
      if (isOver) await deleteReceive(database, receive.id)
      return
    }
    const isWritten = await inTransaction(database, async (sql) => {
      if (!(await raiseVersion(sql, hosted, known.version))) return false
      await upsertBranches(
        sql,
        hosted,
        pushed.map(({ branch, commit }) => [branch, commit]),
      )
      await deleteBranches(sql, hosted, removed)
      for (const push of pushed) {
        if (isBranchName(push.branch)) await recordPush(sql, workflows(), toPush(receive, push), clock.now())
      }
      if (isOver) await deleteReceive(sql, receive.id)
      return true
    })
    if (!isWritten) continue
    workflows().nudge()
    log.info({ ...hosted, branches: pushed.map(({ branch }) => branch), pusher: receive.pusher }, 'git push received')
    return
  }
}

interface PushedBranch {
  readonly branch: string
  readonly before: string | undefined
  readonly commit: string
}

/** Returns the branches that point to another commit than before, and the deleted ones. */
export function compareHeads(
  known: Readonly<Record<string, string>>,
  now: Heads,
): { readonly pushed: readonly PushedBranch[]; readonly removed: readonly string[] } {
  const former = new Map(Object.entries(known))
  const pushed = [...now]
    .filter(([branch, commit]) => former.get(branch) !== commit)
    .map(([branch, commit]) => ({ branch, before: former.get(branch), commit }))
  return { pushed, removed: [...former.keys()].filter((branch) => !now.has(branch)) }
}

const toPush = (
  { organization_id, repository, pusher }: ReceiveRow,
  { branch, before, commit }: PushedBranch,
): Push => ({
  organizationId: organization_id,
  source: 'BUILT_IN',
  repositories: [hostedKey(repository)],
  branch,
  before,
  commit,
  pusher,
})

import type { Sql } from '../database/index.ts'
import { newId } from '../lib/id.ts'
import type { Workflows } from '../workflows/index.ts'
import { insertPush, type PushSource } from './push-store.ts'

export const pushWorkflow = 'git push'

/** One branch that now points at another commit. */
export interface Push {
  readonly organizationId: string
  readonly source: PushSource
  /** Keys of the repository, see `repositoryKey`: one for each of its addresses. */
  readonly repositories: readonly string[]
  readonly branch: string
  /** Where it pointed before; undefined: the branch is new. */
  readonly before: string | undefined
  readonly commit: string
  /** Who pushed, as people read it. */
  readonly pusher: string
  /** Every file that changed, where that is known. */
  readonly paths?: readonly string[] | undefined
}

/**
 * Writes a push down together with the work that decides what it deploys: from the commit on, it
 * cannot be lost. Pushes to one repository are worked on in the order in which they are written.
 * The caller nudges the workflows afterwards. Returns its id.
 */
export async function recordPush(
  sql: Sql,
  workflows: Pick<Workflows, 'submit'>,
  push: Push,
  receivedAt: Date,
): Promise<string> {
  const id = newId()
  const key = `${pushWorkflow} ${push.organizationId} ${push.repositories[0] ?? ''}`
  const countsFor = { organizationId: push.organizationId }
  await workflows.submit(sql, { id, kind: pushWorkflow, key, input: { pushId: id }, countsFor })
  await insertPush(sql, { id, ...push, receivedAt })
  return id
}

import type { Database } from '../database/index.ts'
import { hostedKey, repositoryKey } from '../git/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import { repositoriesOf, type ServiceRow } from '../services/index.ts'
import { type Followed, listBehind } from './behind-store.ts'
import { deleteGitDeliveriesBefore, type WebhookProvider } from './git-webhook-store.ts'
import {
  deletePushesBefore,
  findHearing,
  listPushes,
  listUsedAddresses,
  type PushedServiceRow,
  type PushRow,
} from './push-store.ts'
import type { UsedAt } from './used-at.ts'

const shownPushes = 100
const keptDays = 30
const dayMs = 24 * 3600 * 1000

/** Returns the moment before which records are deleted. */
const keptSince = (clock: Clock): Date => new Date(clock.now().getTime() - keptDays * dayMs)

/** The pushes to repositories of an organization and their results. */
export function createPushRecords(database: Database, home: readonly string[]) {
  return {
    /**
     * Whether pushes to the repository at this address are reported. `home`: the origins of the
     * built-in git host.
     */
    async heardOf(organizationId: string, address: string, provider: WebhookProvider) {
      const key = repositoryKey(address, home)
      if (key?.startsWith('/')) return 'ACTIVE' as const
      const { is_told, has_webhook } = await findHearing(database, organizationId, { key: key ?? '', provider })
      if (is_told) return 'ACTIVE' as const
      return has_webhook ? ('UNABLE_TO_VERIFY' as const) : ('NOT_CONFIGURED' as const)
    },

    /** Returns the services whose branch is known to be ahead of their deployed commit. */
    async behind(organizationId: string, services: readonly ServiceRow[]): Promise<ServiceRow[]> {
      const followed = services.flatMap((service) => followedOf(service, home) ?? [])
      const behind = await listBehind(database, organizationId, followed)
      return services.filter(({ id }) => behind.has(id))
    },

    /**
     * Lists the last 100 pushes, newest first: those to repositories that the reader may read,
     * with the services that the reader may read.
     */
    async list(organizationId: string, reader: PushReader) {
      const rows = await listPushes(database, organizationId, shownPushes)
      const mayRead = reader.all ? () => true : await repositoryFilter(database, organizationId, { home, reader })
      const isVisible = (at: PushedServiceRow): boolean => reader.environment(at.project_id, at.environment_mode)
      return rows
        .filter(mayRead)
        .map(({ id, source, repositories, branch, before, commit, pusher, received_at, handled_at, services }) => ({
          id,
          created_at: received_at,
          source,
          repository: repositories[0] ?? '',
          branch,
          previous_commit_id: before,
          git_commit_id: commit,
          pusher,
          handled_at,
          services: services.filter(isVisible).map(toService),
        }))
    },
  }
}

/** The rights of somebody who reads pushes. */
export interface PushReader {
  /** Whether the reader may read every repository. */
  readonly all: boolean
  /** Whether the reader may read a repository that environments at these places use. */
  repository(usedAt: readonly UsedAt[]): boolean
  environment(projectId: string, mode: string): boolean
}

/** Decides once for each repository whether the reader may see its pushes. */
async function repositoryFilter(
  database: Database,
  organizationId: string,
  { home, reader }: { readonly home: readonly string[]; readonly reader: PushReader },
): Promise<(push: PushRow) => boolean> {
  const places = await placesByKey(database, organizationId, home)
  const decided = new Map<string, boolean>()
  return ({ repositories }) => {
    const keys = repositories.join('\n')
    const known = decided.get(keys) ?? reader.repository(repositories.flatMap((key) => places.get(key) ?? []))
    decided.set(keys, known)
    return known
  }
}

/** Returns the places that use a repository, by the key of the repository. */
async function placesByKey(database: Database, organizationId: string, home: readonly string[]) {
  const places = new Map<string, UsedAt[]>()
  for (const { address, project_id: projectId, mode } of await listUsedAddresses(database, organizationId)) {
    const key = repositoryKey(address, home)
    if (key === undefined) continue
    const known = places.get(key)
    if (known) known.push({ projectId, mode })
    else places.set(key, [{ projectId, mode }])
  }
  return places
}

export type PushRecords = ReturnType<typeof createPushRecords>

/**
 * Undefined for a service that is not built from git or was never deployed. Without a branch a
 * service follows the one of its deployment.
 */
function followedOf(service: ServiceRow, home: readonly string[]): Followed | undefined {
  const { id, kind, settings, deployed_commit, last_deployment_date: deployed_at } = service
  const [source] = repositoriesOf(kind, settings)
  const key = source && repositoryKey(source.repository.url, home)
  if (!key || !deployed_commit) return undefined
  const hosted = key.startsWith(hostedKey('')) ? key.slice(hostedKey('').length) : null
  const branch = source.repository.branch ?? deployed_commit.branch
  return { id, key, hosted, branch, commit: deployed_commit.id, deployed_at }
}

const toService = ({
  service_id,
  service_name,
  environment_id,
  environment_name,
  result,
  reason,
  request_id,
}: PushedServiceRow) => ({
  service_id,
  service_name,
  environment_id,
  environment_name,
  result,
  reason,
  deployment_request_id: request_id,
})

/** Deletes pushes and messages of providers after 30 days. */
export const createPushPruner = ({ database, clock }: { database: Database; clock: Clock }): Reconciler => ({
  name: 'old pushes',
  everyMs: 3600 * 1000,
  reconcile: async () => {
    await deletePushesBefore(database, keptSince(clock))
    await deleteGitDeliveriesBefore(database, keptSince(clock))
  },
})

import { serviceKinds } from '@quayside/contract/services/kinds.ts'
import { requireOn } from '../../access/index.ts'
import { listLinks } from '../../domains/index.ts'
import { serviceHistory } from '../../history/index.ts'
import type { JobEvent } from '../../jobs/index.ts'
import { AppError, notFound } from '../../lib/error.ts'
import { lineId, serviceLine, serviceStream } from '../../logs/index.ts'
import { findEnvironment } from '../../organizations/index.ts'
import {
  environmentStatuses,
  serviceStatus,
  stackActionOf,
  statusForClient,
  type WantedVersion,
} from '../../requests/index.ts'
import type { Handlers } from '../call.ts'
import { requestedBy } from './requested-by.ts'
import { requireRepositories } from './require-repositories.ts'
import type { Rooms } from './rooms.ts'

const defaultTail = 1000
const longestTail = 10_000

/** Handlers for services of all kinds. */
export const serviceHandlers = (rooms: Rooms) => {
  const { database, deployments, services, lines, pushRecords } = rooms
  return {
    listServices: ({ kind, target, query }) =>
      services.list(
        target.id,
        kind,
        query?.toUpdate ? (all) => pushRecords.behind(target.organization_id, all) : undefined,
      ),
    createService: async ({ caller, kind, target, body }) => {
      await requireRepositories(rooms, caller, target.organization_id, body)
      return services.create(kind, target, body)
    },
    getService: ({ target }) => services.record(target),
    editService: async ({ caller, target, body }) => {
      await requireRepositories(rooms, caller, target.organization_id, body)
      return services.edit(target, body)
    },
    deleteService: async (call) => {
      refuseDeletion(call.query)
      if (keepsRecord(call.query)) {
        await deployments.uninstall(call.target, requestedBy(call), { stackAction: 'RESOURCES_ONLY' })
      } else await deployments.remove(call.target, requestedBy(call), endingOf(call.query))
      return undefined
    },
    cloneService: async ({ caller, target, body }) => {
      const environment = await findEnvironment(database, body.environment_id.toLowerCase())
      if (environment?.organization_id !== target.organization_id) {
        throw notFound('environment', body.environment_id, { field: 'environment_id' })
      }
      const { project_id: projectId, mode, name } = environment
      requireOn(caller, 'write', { projectId, mode }, `environment "${name}"`)
      return services.clone(target, environment, { name: body.name, withData: body.with_data === true })
    },

    getServiceStatus: async ({ target }) => {
      const status = await serviceStatus(database, target.id)
      if (!status) throw notFound('service', target.id)
      return status
    },
    getStatusForClient: async ({ target, client }) => {
      const status = await statusForClient(database, target.id, client.dialect)
      if (!status) throw notFound('service', target.id)
      return status
    },
    listServiceStatuses: async ({ kind, target }) => {
      const lists = await environmentStatuses(database, target.id)
      return { results: lists[serviceKinds[kind].plural] }
    },
    deployService: (call) =>
      deployments.deploy(call.target, requestedBy(call), wantedVersion(call.body ?? {}, call.query)),
    redeployService: (call) => deployments.redeploy(call.target, requestedBy(call), wantedVersion({}, call.query)),
    rollbackService: (call) => deployments.rollback(call.target, requestedBy(call), call.body.execution_id),
    stopService: (call) => deployments.stop(call.target, requestedBy(call)),
    restartService: (call) => deployments.restart(call.target, requestedBy(call)),
    uninstallService: (call) => deployments.uninstall(call.target, requestedBy(call), endingOf(call.query)),

    listServiceHistory: ({ target, query }) => serviceHistory(database, target.id, query),
    listServiceLog: async ({ target, query }) => {
      const stream = serviceStream(target.id)
      const stored = await lines.tail(stream, Math.min(query.tail ?? defaultTail, longestTail))
      return { results: stored.map((line) => toLog(line.seq, serviceLine(line))) }

      function toLog(seq: number, line: ReturnType<typeof serviceLine>) {
        const { at, text, replica, release } = line
        return { id: lineId(stream, seq), created_at: new Date(at), message: text, pod_name: replica, version: release }
      }
    },
    listServiceLinks: async ({ target }) => ({ results: await listLinks(database, target, rooms.publicAddress) }),
  } satisfies Partial<Handlers>
}

/** Throws 400 for ways of deletion that are not supported. */
function refuseDeletion(query: {
  readonly skipReconcile?: boolean
  readonly resources_only?: boolean
  readonly force_terraform_action?: string
}): void {
  if (query.skipReconcile) {
    throw new AppError(
      'invalid',
      'skipReconcile must be false: running replicas are always removed with their service.',
    )
  }
  if (query.resources_only && query.force_terraform_action) {
    throw new AppError('invalid', 'resources_only must be false with SKIP_DESTROY: nothing would be done.')
  }
}

/** Whether a deletion only destroys the resources of a stack. Other kinds have no such query. */
const keepsRecord = (query: object): boolean => 'resources_only' in query && query.resources_only === true

/** Returns how a stack or a chart ends. Other kinds have no such query. */
function endingOf(query: object = {}): { readonly stackAction?: 'SKIP_DESTROY' | 'KEEP_VOLUMES' } {
  if ('force_terraform_action' in query && query.force_terraform_action === 'SKIP_DESTROY') {
    return { stackAction: query.force_terraform_action }
  }
  return 'keep_volumes' in query && query.keep_volumes === true ? { stackAction: 'KEEP_VOLUMES' } : {}
}

interface VersionBody {
  readonly git_commit_id?: string | null
  readonly image_tag?: string | null
  readonly chart_version?: string | null
  readonly values_override_git_commit_id?: string | null
  readonly action?: 'PLAN' | 'FORCE_UNLOCK' | 'MIGRATE_STATE' | null
  readonly plan_run_id?: string | null
}

/** Returns the event of a job to run. For a chart, the plan of its deployment is made instead. */
const eventOf = (event: JobEvent | 'DIFF' | undefined): Pick<WantedVersion, 'forceEvent' | 'stackAction'> => {
  if (event === undefined) return {}
  return event === 'DIFF' ? { stackAction: 'PLAN' } : { forceEvent: event }
}

/** Returns the desired version. An empty string counts as absent. */
const wantedVersion = (
  { git_commit_id, image_tag, chart_version, values_override_git_commit_id: values, action, plan_run_id }: VersionBody,
  query: { readonly forceEvent?: JobEvent | 'DIFF'; readonly applyImmediately?: boolean } | undefined,
): WantedVersion => ({
  ...(git_commit_id ? { commit: git_commit_id } : {}),
  ...(image_tag ? { tag: image_tag } : {}),
  ...(chart_version ? { chart: chart_version } : {}),
  ...(values ? { valuesCommit: values } : {}),
  ...stackActionOf(action),
  ...(plan_run_id ? { planRun: plan_run_id } : {}),
  ...eventOf(query?.forceEvent),
})

import { type DatabaseType, databaseTable, databaseTypes } from '@quayside/contract/services/database.ts'
import { requireOn } from '../../access/index.ts'
import { listEnvironmentLinks } from '../../domains/index.ts'
import { cleanFailedRuns, jobRuns, jobTimetable } from '../../jobs/index.ts'
import { AppError, notFound } from '../../lib/error.ts'
import { chartDiff, chartDiffs, type ListChartServices } from '../../rollout/index.ts'
import { listImageServices, listServices } from '../../services/index.ts'
import type { Handlers } from '../call.ts'
import type { Browse } from './browsing.ts'
import { requestedBy } from './requested-by.ts'
import type { Rooms } from './rooms.ts'

/** Handlers that concern one kind of service, or all services of an environment. */
export const kindHandlers = (rooms: Rooms, browse: Browse) => {
  const { database, deployments, services } = rooms
  return {
    listEnvironmentLinks: async ({ target }) => ({
      results: await listEnvironmentLinks(database, target.id, rooms.publicAddress),
    }),
    listDatabaseConfigurations: async () => ({ results: databaseTypes.map(configurationOf) }),
    listDatabaseVersions: async ({ target }) => ({ results: services.versions(target).map((name) => ({ name })) }),
    getDatabaseCredentials: ({ target }) => services.credentials(target),
    listChartDiffs: async ({ target }) => ({ results: await chartDiffs(database, target) }),
    getChartDiff: ({ target, ids }) => chartDiff(database, target, ids[0] ?? ''),
    listChartServices: async ({ caller, target }) => ({
      results: (await browse(caller, (signal) => rooms.listChartServices(target, signal))).map(toKubernetesService),
    }),

    listJobRuns: async ({ target }) => ({ results: await jobRuns(database, target.id) }),
    getJobTimetable: ({ target }) => jobTimetable(database, target.id),
    cancelJobRun: ({ target, ids, caller }) => rooms.runCommands.cancel(target.id, ids[0] ?? '', caller.name),
    cleanFailedJob: async ({ target }) => {
      const cleaned = await cleanFailedRuns(rooms, [target.id])
      return { clean_kubernetes_jobs: cleaned.map(({ id }) => id) }
    },
    cleanFailedJobs: async ({ kind, target, body }) => {
      const jobs = new Set((await listServices(database, target.id, kind)).map(({ id }) => id))
      const wanted = body.job_ids?.map((id) => id.toLowerCase())
      const unknown = (wanted ?? []).findIndex((id) => !jobs.has(id))
      if (unknown !== -1) throw notFound('job', wanted?.[unknown], { field: `job_ids[${unknown}]` })
      const cleaned = await cleanFailedRuns(rooms, wanted ?? [...jobs])
      return {
        clean_job_ids: [...new Set(cleaned.map(({ service_id }) => service_id))],
        clean_kubernetes_jobs: cleaned.map(({ id }) => id),
      }
    },
    deployImage: async (call) => {
      const { kind, caller, target, body } = call
      const wanted = { organizationId: target.id, kind, imageName: body.image_name }
      const found = await listImageServices(database, wanted)
      for (const { project_id: projectId, environment_mode: mode, environment_name } of found) {
        requireOn(caller, 'deploy', { projectId, mode }, `environment "${environment_name}"`)
      }
      const answers = []
      for (const service of found) answers.push(await deployments.deploy(service, requestedBy(call), { tag: body.tag }))
      if (answers[0]) return answers[0]
      throw new AppError('notFound', `image_name: no ${kind} with auto_deploy has this image.`)
    },
  } satisfies Partial<Handlers>
}

const toKubernetesService = ({ name, type, ports, selectors }: Awaited<ReturnType<ListChartServices>>[number]) => ({
  metadata: { name },
  service_spec: { type, ports: [...ports], selectors: [...selectors] },
})

/** Returns the modes of a database type. Managed databases run as containers too. */
const configurationOf = (type: DatabaseType) => ({
  database_type: type,
  version: databaseTable[type].versions.flatMap((name) => [
    { name, supported_mode: 'CONTAINER' as const },
    { name, supported_mode: 'MANAGED' as const },
  ]),
})

import { checkTimeZone } from '../../lib/time-zone.ts'
import { type Branch, type CreateBody, cleared, type EditBody, given, originOf, type TokenTypes } from './branch.ts'
import type { ImageSettings } from './container.ts'
import { checkCron } from './cron.ts'
import { checkProbes, type HealthcheckSettings } from './probes.ts'
import { checkRepository, type Repository, repositoryOf, repositoryRecord } from './repository.ts'
import {
  checkBuildStage,
  checkEntrypoint,
  checkIcon,
  checkImage,
  checkRelativePath,
  checkResources,
  onlyOne,
  refuse,
} from './rules.ts'

interface Run {
  readonly arguments: string[]
  readonly entrypoint?: string
}
/** Either `cronjob` or the events of an environment. */
export interface Schedule {
  readonly on_start?: Run
  readonly on_stop?: Run
  readonly on_delete?: Run
  readonly cronjob?: Run & { readonly timezone: string; readonly scheduled_at: string }
  readonly lifecycle_type?: 'GENERIC' | 'TERRAFORM' | 'CLOUDFORMATION'
}
export interface DockerSource {
  readonly git_repository: Repository
  readonly dockerfile_path: string | null
  readonly dockerfile_raw: string | null
  readonly docker_target_build_stage: string | null
}
export type JobSource = { readonly image: ImageSettings } | { readonly docker: DockerSource }

export interface JobSettings {
  readonly cpu: number
  readonly memory: number
  readonly gpu: number
  readonly ephemeral_storage_in_gib?: number
  readonly cpu_architecture: 'AMD64' | 'ARM64' | null
  readonly max_nb_restart: number
  readonly max_duration_seconds: number
  readonly auto_preview: boolean
  readonly port: number | null
  readonly source: JobSource
  readonly healthchecks: HealthcheckSettings
  readonly schedule: Schedule
  readonly auto_deploy: boolean
  readonly icon_uri: string
}

const repositoryPath = 'source.docker.git_repository'
const defaultIcon = (schedule: Schedule): string =>
  `app://qovery-console/${schedule.cronjob ? 'cron-job' : 'lifecycle-job'}`

function sourceOf(
  { image, docker }: CreateBody<'job'>['source'],
  former: JobSource | undefined,
  types: TokenTypes,
): JobSource {
  onlyOne('source', { image, docker })
  if (image) return { image: { ...image } }
  const before = former && 'docker' in former ? former.docker : undefined
  if (!docker) return refuse('source', 'must hold exactly one of image, docker')
  return {
    docker: {
      git_repository: repositoryOf(docker.git_repository, before?.git_repository, types(repositoryPath)),
      dockerfile_path: docker.dockerfile_path ?? null,
      dockerfile_raw: docker.dockerfile_raw ?? null,
      docker_target_build_stage: docker.docker_target_build_stage ?? null,
    },
  }
}

type ScheduleBody = CreateBody<'job'>['schedule']
function scheduleOf({ cronjob, on_start, on_stop, on_delete, lifecycle_type }: ScheduleBody): Schedule {
  const events = { on_start, on_stop, on_delete }
  const named = Object.entries(events).flatMap(([name, event]) => (event ? [[name, runOf(event)] as const] : []))
  if (cronjob && named.length > 0) refuse('schedule', 'must hold either cronjob or on_start, on_stop, on_delete')
  if (!cronjob && named.length === 0) refuse('schedule', 'must hold cronjob, or one of on_start, on_stop, on_delete')
  if (cronjob && lifecycle_type && lifecycle_type !== 'GENERIC') {
    refuse('schedule.lifecycle_type', 'belongs to lifecycle jobs; a cron job has none')
  }
  if (cronjob) {
    const { timezone, scheduled_at } = cronjob
    return { cronjob: { ...runOf(cronjob), timezone, scheduled_at } }
  }
  return { ...Object.fromEntries(named), lifecycle_type: lifecycle_type ?? 'GENERIC' }
}

const runOf = (run: { readonly arguments: readonly string[]; readonly entrypoint?: string | null }): Run => ({
  arguments: [...run.arguments],
  ...cleared('entrypoint', run.entrypoint, undefined),
})

function change(former: Partial<JobSettings>, body: EditBody<'job'>, types: TokenTypes): JobSettings {
  const { cpu, memory, gpu, max_nb_restart, max_duration_seconds, auto_preview, port, cpu_architecture } = body
  const { ephemeral_storage_in_gib: _, ...kept } = former
  const schedule = body.schedule ? scheduleOf(body.schedule) : former.schedule
  // Every required member comes from the previous settings or the defaults of the schema.
  return {
    cpu_architecture: null,
    port: null,
    auto_deploy: false,
    ...kept,
    ...given({ cpu, memory, gpu, max_nb_restart, max_duration_seconds, auto_preview, port, cpu_architecture }),
    ...given({ healthchecks: body.healthchecks }),
    ...cleared('ephemeral_storage_in_gib', body.ephemeral_storage_in_gib, former.ephemeral_storage_in_gib),
    ...(body.auto_deploy === undefined ? {} : { auto_deploy: body.auto_deploy ?? false }),
    source: body.source ? sourceOf(body.source, former.source, types) : former.source,
    schedule,
    icon_uri: body.icon_uri ?? former.icon_uri ?? defaultIcon(schedule ?? {}),
  } as JobSettings
}

export const jobBranch: Branch<'job'> = {
  create: (body, types) => change({}, body, types),
  change,
  check: (settings, ceiling) => {
    const { source, schedule } = settings
    if ('image' in source) checkImage('source.image.', source.image)
    else checkDocker(source.docker)
    checkResources(settings, ceiling)
    if (schedule.cronjob) {
      checkCron('schedule.cronjob.scheduled_at', schedule.cronjob.scheduled_at)
      checkTimeZone('schedule.cronjob.timezone', schedule.cronjob.timezone)
    }
    for (const name of ['on_start', 'on_stop', 'on_delete', 'cronjob'] as const) {
      checkEntrypoint(`schedule.${name}.entrypoint`, schedule[name]?.entrypoint)
    }
    checkProbes(settings.healthchecks)
    checkIcon(settings.icon_uri)
  },
  repositories: [repositoryPath],
  origins: [{ table: 'container_registry', path: 'source.image.registry_id' }],
  record: (settings, facts) => {
    const { source } = settings
    return {
      ...settings,
      job_type: settings.schedule.cronjob ? 'CRON' : 'LIFECYCLE',
      source:
        'image' in source
          ? { image: { ...source.image, registry: originOf(facts) } }
          : { docker: { ...source.docker, git_repository: repositoryRecord(source.docker.git_repository, facts) } },
      maximum_cpu: facts.ceiling.cpu,
      maximum_memory: facts.ceiling.memory,
      maximum_gpu: 0,
    }
  },
}

function checkDocker({ git_repository, dockerfile_path, dockerfile_raw, docker_target_build_stage }: DockerSource) {
  checkRepository(repositoryPath, git_repository)
  if (dockerfile_path !== null && dockerfile_raw !== null) {
    refuse('source.docker', 'must not hold both dockerfile_path and dockerfile_raw')
  }
  if (dockerfile_path !== null) checkRelativePath('source.docker.dockerfile_path', dockerfile_path, false)
  checkBuildStage('source.docker.docker_target_build_stage', docker_target_build_stage)
}

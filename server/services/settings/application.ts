import type { Static } from '@quayside/contract'
import type { ApplicationCreate, ApplicationEdit } from '@quayside/contract/services/application.ts'
import { type Branch, cleared, given } from './branch.ts'
import { type PortSettings, portsOf, type StorageSettings, storageOf } from './ports.ts'
import { checkProbes, type HealthcheckSettings } from './probes.ts'
import { checkRepository, type Provider, type Repository, repositoryOf, repositoryRecord } from './repository.ts'
import {
  type Ceiling,
  checkBuildStage,
  checkEntrypoint,
  checkIcon,
  checkInstances,
  checkPorts,
  checkRelativePath,
  checkResources,
  checkStorage,
  checkStorageGrowth,
} from './rules.ts'

export type ApplicationBody = Static<typeof ApplicationCreate>
export type ApplicationChange = Static<typeof ApplicationEdit>

/** The settings of every long-running kind. */
export interface RunningSettings {
  readonly cpu: number
  readonly memory: number
  readonly gpu: number
  readonly ephemeral_storage_in_gib?: number
  readonly cpu_architecture: 'AMD64' | 'ARM64' | null
  readonly min_running_instances: number
  readonly max_running_instances: number
  readonly healthchecks: HealthcheckSettings
  readonly auto_preview: boolean
  readonly auto_deploy: boolean
  readonly arguments: readonly string[]
  readonly entrypoint?: string
  readonly icon_uri: string
  readonly ports: readonly PortSettings[]
  readonly storage: readonly StorageSettings[]
}
export interface ApplicationSettings extends RunningSettings {
  readonly git_repository: Repository
  readonly build_mode: 'DOCKER'
  readonly dockerfile_path: string | null
  readonly docker_target_build_stage: string | null
}

const defaultIcon = 'app://qovery-console/application'
type Former = Partial<Omit<ApplicationSettings, 'git_repository'>> & {
  readonly git_repository?: ApplicationSettings['git_repository'] | undefined
}

/** Returns the settings of a new application. */
export const newSettings = (
  body: ApplicationBody,
  tokenType: Provider | undefined,
  icon: string,
): ApplicationSettings =>
  changeSettings({ icon_uri: icon, dockerfile_path: null, docker_target_build_stage: null }, body, tokenType)

/**
 * Returns the settings after a change: members that the body omits are unchanged, null clears.
 * Existing ports and storages keep their ids even if the body does not name them, because a volume
 * is found by its id.
 */
export function changeSettings(
  former: Former,
  body: ApplicationChange,
  tokenType: Provider | undefined,
): ApplicationSettings {
  const { git_repository, ...rest } = body
  const { dockerfile_path, docker_target_build_stage, build_mode } = given(rest)
  // Every member that ApplicationSettings requires comes from the previous settings or has a
  // default in the create schema.
  return {
    ...runningSettings(former, rest),
    ...given({ dockerfile_path, docker_target_build_stage, build_mode }),
    git_repository: git_repository
      ? repositoryOf(git_repository, former.git_repository, tokenType)
      : former.git_repository,
  } as ApplicationSettings
}

type RunningChange = Omit<ApplicationChange, 'git_repository' | 'dockerfile_path'>

/**
 * Returns the changed settings that applications and containers share. All other previous settings
 * are unchanged.
 */
export function runningSettings(former: Partial<RunningSettings>, body: RunningChange): Partial<RunningSettings> {
  const { cpu, memory, gpu, min_running_instances, max_running_instances, healthchecks, auto_preview } = body
  const { entrypoint: _e, ephemeral_storage_in_gib: _s, ...kept } = former
  const { ports, storage, icon_uri, auto_deploy, entrypoint, ephemeral_storage_in_gib, cpu_architecture } = body
  const plain = { cpu, memory, gpu, min_running_instances, max_running_instances, healthchecks, auto_preview }
  return {
    ...kept,
    ...given({ ...plain, arguments: body.arguments }),
    ...cleared('entrypoint', entrypoint, former.entrypoint),
    ...cleared('ephemeral_storage_in_gib', ephemeral_storage_in_gib, former.ephemeral_storage_in_gib),
    cpu_architecture: cpu_architecture === undefined ? (former.cpu_architecture ?? null) : cpu_architecture,
    ...given({ icon_uri: icon_uri ?? former.icon_uri }),
    auto_deploy: auto_deploy === undefined ? (former.auto_deploy ?? false) : (auto_deploy ?? false),
    ports: portsOf(ports, former.ports),
    storage: storageOf(storage, former.storage),
  }
}

export function checkRunning(settings: RunningSettings, ceiling: Ceiling): void {
  checkResources(settings, ceiling)
  checkInstances(settings)
  checkPorts(settings.ports)
  checkStorage(settings.storage)
  checkProbes(settings.healthchecks)
  checkIcon(settings.icon_uri)
  checkEntrypoint('entrypoint', settings.entrypoint)
}

/** Throws the first broken rule, with the name of the field. */
export function checkApplication(settings: ApplicationSettings, ceiling: Ceiling): void {
  checkRepository('git_repository', settings.git_repository)
  if (settings.dockerfile_path !== null) checkRelativePath('dockerfile_path', settings.dockerfile_path, false)
  checkBuildStage('docker_target_build_stage', settings.docker_target_build_stage)
  checkRunning(settings, ceiling)
}

/** Copies the lists for the record. */
export const runningRecord = (settings: RunningSettings, ceiling: Ceiling) => ({
  arguments: [...settings.arguments],
  ports: [...settings.ports],
  storage: [...settings.storage],
  maximum_cpu: ceiling.cpu,
  maximum_memory: ceiling.memory,
})

export const applicationBranch: Branch<'application'> = {
  create: (body, types) => newSettings(body, types('git_repository'), defaultIcon),
  change: (former, body, types) => changeSettings(former, body, types('git_repository')),
  check: checkApplication,
  checkDeployed: checkStorageGrowth,
  repositories: ['git_repository'],
  origins: [],
  record: (settings, facts) => ({
    ...settings,
    ...runningRecord(settings, facts.ceiling),
    maximun_gpu: 0,
    git_repository: repositoryRecord(settings.git_repository, facts),
  }),
}

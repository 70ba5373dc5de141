import { serviceTypes } from '../enums.ts'
import { Enum, extension, Nullable, Type, Uuid } from '../schema.ts'

/**
 * What a deployment would do with a service: `FIRST_START` and `START` where nothing of it runs, `REBUILD` its image and start that, `RESTART`
 * it with what changed, `KEEP` what runs, `SKIP` it.
 */
export const deploymentEffects = ['FIRST_START', 'START', 'REBUILD', 'RESTART', 'KEEP', 'SKIP'] as const
export type DeploymentEffect = (typeof deploymentEffects)[number]

export const PlannedService = Type.Object({
  service_id: Uuid,
  service_type: Enum(serviceTypes),
  name: Type.String(),
  effect: Enum(deploymentEffects),
  /** Why, for people. */
  reasons: Type.Array(Type.String()),
  is_first_deployment: Type.Boolean(),
  /** Names of settings that differ from those of the version that runs: `git_repository.branch`. */
  changed_settings: Type.Array(Type.String()),
  /** Names of variables and secrets, and paths of files, likewise. */
  changed_variables: Type.Array(Type.String()),
  /** The branch whose newest commit is built, where there is one: which that is, is looked up when the request runs. */
  branch: Nullable(Type.String()),
  /** Why it does not take part. */
  skipped: Nullable(Type.String()),
})

/** Asks what would happen, and changes nothing. Needs the same permission. */
export const DryRun = Type.Object({ dry_run: Type.Optional(extension(Type.Boolean())) })

/** What a change or a deployment would do; nothing of it was done. */
export const DeploymentPlan = Type.Object({
  /** Names of settings that the request itself would change. */
  changed_settings: Type.Array(Type.String()),
  /** What the next deployment would do with each service. */
  services: Type.Array(PlannedService),
  /** Why the deployment would be refused as a whole. */
  refused: Nullable(Type.String()),
})

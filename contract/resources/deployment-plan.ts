import { serviceTypes } from '../enums.ts'
import { Enum, extension, Nullable, Type, Uuid } from '../schema.ts'
import { ChartDiff } from '../services/chart-records.ts'
import { StackPlan } from '../services/stack-records.ts'

/**
 * What a deployment would do with a service. `FIRST_START` and `START` mean that it is not running,
 * `REBUILD` builds and starts a new image, `RESTART` restarts it with the changes, `KEEP` leaves it
 * running, and `SKIP` leaves it out.
 */
export const deploymentEffects = ['FIRST_START', 'START', 'REBUILD', 'RESTART', 'KEEP', 'SKIP'] as const
export type DeploymentEffect = (typeof deploymentEffects)[number]

/** A difference to the running version with its values, of at most 2,000 characters each. */
const PlannedValue = Type.Object({
  kind: Enum(['SETTING', 'IMAGE', 'VARIABLE', 'FILE']),
  name: Type.String(),
  before: Nullable(Type.String({ description: 'null: it is a secret or missing' })),
  after: Nullable(Type.String({ description: 'null: it is a secret or missing' })),
  is_secret: Type.Boolean(),
})
export type PlannedValue = typeof PlannedValue.static

export const PlannedService = Type.Object({
  service_id: Uuid,
  service_type: Enum(serviceTypes),
  name: Type.String(),
  effect: Enum(deploymentEffects),
  /** The reason, for people. */
  reasons: Type.Array(Type.String()),
  is_first_deployment: Type.Boolean(),
  /** Settings that differ from the running version: `git_repository.branch`. */
  changed_settings: Type.Array(Type.String()),
  /** Variables, secrets and paths of files that differ from the running version. */
  changed_variables: Type.Array(Type.String()),
  /** The values of both. The texts of secrets are left out. */
  changed_values: Type.Array(PlannedValue),
  /** The commit of the running version, if it has one. */
  running_commit: Nullable(Type.String()),
  /** The branch to build, if any. Its newest commit is looked up when the request runs. */
  branch: Nullable(Type.String()),
  /** What may be a mistake, such as a value of a chart that would be empty. */
  warnings: Type.Array(Type.String()),
  /** Why the service is skipped. */
  skipped: Nullable(Type.String()),
  /**
   * The newest plan of a Terraform stack that was not applied. Null for other kinds, and if there
   * is none. A dry run makes no plan.
   */
  stack_plan: Nullable(
    Type.Object({
      ...StackPlan.properties,
      is_current: Type.Boolean({ description: 'whether nothing has changed since the plan was made' }),
      changed_since: Type.Array(Type.String(), {
        description: 'what has changed since: `setting timeout_sec`, `variable TOWN`, `commit`, `state`',
      }),
      commit: Nullable(Type.String({ description: 'the commit that it was made of' })),
    }),
  ),
  /**
   * The newest diff of a Helm chart that was not deployed. Null for other kinds, and if there is
   * none. A dry run makes no diff.
   */
  chart_diff: Nullable(ChartDiff),
})

/** Returns the plan and changes nothing. Requires the same permission. */
export const DryRun = Type.Object({ dry_run: Type.Optional(extension(Type.Boolean())) })

/** The plan of a change or a deployment. Nothing was done. */
export const DeploymentPlan = Type.Object({
  /** Names of settings that the request itself would change. */
  changed_settings: Type.Array(Type.String()),
  /** The plan of the next deployment for each service. */
  services: Type.Array(PlannedService),
  /** Why the whole deployment would be rejected. */
  refused: Nullable(Type.String()),
})

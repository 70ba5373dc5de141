import { GitRepositoryRequest } from '../resources/git-token.ts'
import { base, Change, Defaulted, Enum, extension, Nullable, Ref, Text, Timestamp, Type, Uuid } from '../schema.ts'
import { description, iconUri, name } from './fields.ts'
import { GitRepository } from './git-repository.ts'

export const terraformEngines = ['TERRAFORM', 'OPEN_TOFU'] as const
/** Actions that a deployment of a stack can name instead of applying its plan. */
export const deployedStackActions = ['PLAN', 'FORCE_UNLOCK', 'MIGRATE_STATE'] as const
/**
 * What a request does with a stack instead of its usual work: only makes the plan, releases the
 * lock, moves the state to the backend of the settings, ends the stack without destroying its
 * resources, destroys them and keeps the record, or applies the plan of an earlier run. The plan of
 * a chart is its diff, and the end of a chart may keep its volumes.
 */
export const stackActions = [
  ...deployedStackActions,
  'SKIP_DESTROY',
  'RESOURCES_ONLY',
  'APPLY_PLAN',
  'KEEP_VOLUMES',
] as const
export type StackAction = (typeof stackActions)[number]
export const terraformActions = ['DEFAULT', 'PLAN', 'NOOP'] as const
/** The run whose plan is applied, and no other plan. */
export const planRunId = Type.Optional(extension(Nullable(Uuid)))
const nothing = Type.Optional(Nullable(Type.Object({})))

const tfVar = Type.Object({
  key: Text(255, 1),
  /** For a secret, absent or empty keeps the stored value. */
  value: Type.Optional(Nullable(Text(131_072))),
  secret: Defaulted(Type.Boolean(), false),
})
const autoDeployConfig = Defaulted(
  Type.Object({
    auto_deploy: Type.Boolean(),
    terraform_action: Defaulted(Enum(terraformActions), 'DEFAULT'),
  }),
  { auto_deploy: false, terraform_action: 'DEFAULT' },
)
const jobResources = Defaulted(
  Type.Object({
    cpu_milli: Defaulted(Type.Integer({ minimum: 10, maximum: 1_000_000 }), 1000),
    ram_mib: Defaulted(Type.Integer({ minimum: 1, maximum: 10_000_000 }), 1024),
    gpu: Defaulted(Type.Integer({ minimum: 0, maximum: 64 }), 0),
    storage_gib: Defaulted(Type.Integer({ minimum: 1, maximum: 65_536 }), 20),
  }),
  {},
)
const words = Type.Optional(Type.Array(Text(4096), { maxItems: 100 }))
/** Arguments by command. */
const extraArguments = Defaulted(
  Type.Object({ init: words, validate: words, plan: words, apply: words, destroy: words, fmt: words }),
  {},
)
const Words = Type.Optional(Type.Array(Type.String()))

/** The settings of a Terraform stack. */
const properties = {
  name,
  description,
  auto_deploy_config: autoDeployConfig,
  terraform_files_source: Type.Object({ git_repository: GitRepositoryRequest }),
  terraform_variables_source: Defaulted(
    Type.Object({
      tf_var_file_paths: Defaulted(Type.Array(Text(4096, 1), { maxItems: 100 }), []),
      tf_vars: Defaulted(Type.Array(tfVar, { maxItems: 500 }), []),
    }),
    {},
  ),
  /** Where the state is stored: exactly one of the two. */
  backend: Type.Object({ kubernetes: nothing, user_provided: nothing }),
  engine: Enum(terraformEngines),
  provider_version: Type.Object({
    read_from_terraform_block: Defaulted(Type.Boolean(), false),
    explicit_version: Text(100),
  }),
  timeout_sec: Defaulted(Type.Integer({ minimum: 0, maximum: 86_400 }), 600),
  icon_uri: iconUri,
  job_resources: jobResources,
  use_cluster_credentials: Defaulted(Type.Boolean(), false),
  action_extra_arguments: extraArguments,
  /** Lines for the Dockerfile of the runner: `file` has a path, `inline` the lines themselves. */
  dockerfile_fragment: Type.Optional(
    Nullable(
      Type.Object({
        type: Enum(['file', 'inline']),
        path: Type.Optional(Nullable(Text(4096))),
        content: Type.Optional(Nullable(Text(65_536))),
      }),
    ),
  ),
  blueprint_id: Type.Optional(Nullable(Uuid)),
}
export const TerraformCreate = Type.Object(properties)
/** Absent fields are unchanged. */
export const TerraformEdit = Change(properties)

export const Terraform = Type.Object({
  ...base,
  environment: Ref,
  name: Type.String(),
  description: Type.String(),
  icon_uri: Type.String(),
  service_type: Type.Literal('TERRAFORM'),
  auto_deploy: Type.Boolean(),
  auto_deploy_config: Type.Object({ auto_deploy: Type.Boolean(), terraform_action: Enum(terraformActions) }),
  terraform_files_source: Type.Object({ git: Type.Object({ git_repository: GitRepository }) }),
  terraform_variables_source: Type.Object({
    tf_var_file_paths: Type.Array(Type.String()),
    /** Empty for a secret. */
    tf_vars: Type.Array(Type.Object({ key: Type.String(), value: Type.String(), secret: Type.Boolean() })),
  }),
  backend: Type.Object({
    kubernetes: Type.Optional(Type.Object({})),
    user_provided: Type.Optional(Type.Object({})),
  }),
  engine: Enum(terraformEngines),
  provider_version: Type.Object({ read_from_terraform_block: Type.Boolean(), explicit_version: Type.String() }),
  timeout_sec: Type.Integer(),
  job_resources: Type.Object({
    cpu_milli: Type.Integer(),
    ram_mib: Type.Integer(),
    gpu: Type.Integer(),
    storage_gib: Type.Integer(),
  }),
  use_cluster_credentials: Type.Boolean(),
  action_extra_arguments: Type.Object({
    init: Words,
    validate: Words,
    plan: Words,
    apply: Words,
    destroy: Words,
    fmt: Words,
  }),
  dockerfile_fragment: Nullable(
    Type.Object({
      type: Enum(['file', 'inline']),
      path: Type.Optional(Type.String()),
      content: Type.Optional(Type.String()),
    }),
  ),
  blueprint_id: Nullable(Uuid),
})

export const TerraformVersion = Type.Object({ engine: Enum(terraformEngines), version: Type.String() })
export const TerraformResource = Type.Object({
  id: Uuid,
  resource_type: Type.String(),
  name: Type.String(),
  address: Type.String(),
  provider: Type.String(),
  mode: Enum(['managed', 'data']),
  attributes: Type.Record(Type.String(), Type.Unknown()),
  extracted_at: Timestamp,
})

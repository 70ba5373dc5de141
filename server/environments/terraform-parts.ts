import type { Static } from '@quayside/contract'
import type { Autoscaling } from '@quayside/contract/resources/autoscaling.ts'
import type { Hcl } from './hcl.ts'

// Attributes that several resources of the provider have.

export type Attributes = Readonly<Record<string, Hcl | undefined>>

/** The attributes of services on whose pods labels and annotations are set. */
interface Tagged {
  readonly labels_groups: readonly { readonly id: string }[]
  readonly annotations_groups: readonly { readonly id: string }[]
}
export const tagged = ({ labels_groups, annotations_groups }: Tagged): Attributes => ({
  labels_group_ids: unlessEmpty(labels_groups.map(({ id }) => id)),
  annotations_group_ids: unlessEmpty(annotations_groups.map(({ id }) => id)),
})

/** The attributes of services that run all the time. */
interface Running extends Tagged {
  readonly cpu: number
  readonly memory: number
  readonly min_running_instances: number
  readonly max_running_instances: number
  readonly auto_preview: boolean
  readonly auto_deploy: boolean
  readonly entrypoint?: string
  readonly arguments: readonly string[]
  readonly ports: readonly { readonly id: string }[]
  readonly storage: readonly { readonly id: string }[]
  readonly healthchecks: object
  readonly autoscaling?: Policy
}
export const running = (record: Running): Attributes => ({
  cpu: record.cpu,
  memory: record.memory,
  min_running_instances: record.min_running_instances,
  max_running_instances: record.max_running_instances,
  auto_preview: record.auto_preview,
  auto_deploy: record.auto_deploy,
  entrypoint: record.entrypoint,
  arguments: record.arguments,
  ports: record.ports.map(({ id: _, ...port }) => plain(port)),
  storage: record.storage.map(({ id: _, ...storage }) => plain(storage)),
  healthchecks: plain(record.healthchecks),
  autoscaling: autoscaling(record.autoscaling),
  ...tagged(record),
})

type Policy = Static<typeof Autoscaling>
type Scaler = Policy['scalers'][number]

/** The provider refuses a policy without an enabled scaler. */
function autoscaling(policy: Policy | undefined): Hcl | undefined {
  if (!policy?.scalers.some(({ enabled }) => enabled)) return undefined
  const { polling_interval_seconds, cooldown_period_seconds, scalers } = policy
  return { polling_interval_seconds, cooldown_period_seconds, scalers: scalers.map(scaler) }
}

function scaler({ scaler_type, enabled, role, config_json, config_yaml, trigger_authentication: given }: Scaler): Hcl {
  return {
    ...{ scaler_type, enabled, role },
    config_json: config_json ? JSON.stringify(config_json) : undefined,
    config_yaml: config_yaml ?? undefined,
    trigger_authentication: given && { name: given.name, config_yaml: given.config_yaml },
  }
}

interface Repository {
  readonly url: string
  readonly branch: string
  readonly root_path: string
  readonly git_token_id: string | null
}
export const repository = ({ url, branch, root_path, git_token_id }: Repository): Attributes => ({
  url,
  branch,
  root_path,
  git_token_id: git_token_id ?? undefined,
})

type Command = { readonly arguments: readonly string[]; readonly entrypoint?: string } | undefined
export const command = (given: Command): Hcl | undefined =>
  given && { arguments: [...given.arguments], ...(given.entrypoint && { entrypoint: given.entrypoint }) }

/** The provider reads an empty list back as an absent one, and then reports an error of its own. */
export const unlessEmpty = <T>(list: readonly T[]): readonly T[] | undefined => (list.length === 0 ? undefined : list)
export const objectOf = (entries: readonly (readonly [string, Hcl])[] | undefined): Hcl | undefined =>
  entries && Object.fromEntries(entries)

export const pairs = (list: readonly (readonly string[])[]): Hcl =>
  Object.fromEntries(list.map(([name = '', value = '']) => [name, value]))

/** Returns JSON without members that are null. */
export function plain(value: unknown): Hcl {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  const members = Object.entries(Object(value)).filter(([, member]) => member !== null && member !== undefined)
  return Object.fromEntries(members.map(([name, member]) => [name, plain(member)]))
}

import type { KindName } from '@quayside/contract/services/kinds.ts'
import type { RecordOf } from '../services/index.ts'
import type { OwnVariable } from '../variables/index.ts'
import { block, type Hcl, labels, reference } from './hcl.ts'
import { terraformResources } from './terraform-services.ts'

/** Everything in an environment's export. */
export interface Exported {
  readonly environment: {
    readonly name: string
    readonly mode: string
    readonly project_id: string
    readonly cluster_id: string
  }
  readonly stages: readonly {
    readonly name: string
    readonly description: string
    readonly services: readonly { readonly service_id: string; readonly is_skipped: boolean }[]
  }[]
  readonly services: readonly {
    readonly kind: KindName
    readonly record: RecordOf<KindName>
    readonly variables: readonly OwnVariable[]
  }[]
  /** The environment's own variables. */
  readonly variables: readonly OwnVariable[]
  /** Values of secrets by the ids of their variables. Empty if secrets are not exported. */
  readonly secrets: ReadonlyMap<string, string>
}

/** Pure: returns the files of a Terraform configuration for the public provider, by name. */
export function terraformFiles(exported: Exported): Record<string, string> {
  const label = labels()
  const secrets = new Map<string, string | undefined>()
  const secretLabel = labels()
  const toSecret = (name: string, text: string | undefined): Hcl => {
    const variable = secretLabel(name)
    secrets.set(variable, text)
    return reference('var', variable)
  }
  const environment = label(exported.environment.name)
  const environment_id = reference('qovery_environment', environment, 'id')
  const listed = (owner: string, variables: readonly OwnVariable[]) =>
    variableLists(variables, (record) => toSecret(`${owner}_${record.key}`, exported.secrets.get(record.id)))
  const blocks = [
    block('resource', ['qovery_environment', environment], {
      ...exported.environment,
      ...listed(environment, exported.variables),
    }),
  ]
  const places = new Map<string, { readonly stage: string; readonly is_skipped: boolean }>()
  let former: string | undefined
  for (const { name, description, services } of exported.stages) {
    const stage = label(name)
    const is_after = former === undefined ? undefined : reference('qovery_deployment_stage', former, 'id')
    blocks.push(block('resource', ['qovery_deployment_stage', stage], { environment_id, name, description, is_after }))
    for (const { service_id, is_skipped } of services) places.set(service_id, { stage, is_skipped })
    former = stage
  }
  for (const { kind, record, variables } of exported.services) {
    const own = label(record.name)
    const place = places.get(record.id)
    const secret = (key: string): Hcl => toSecret(`${own}_${key}`, undefined)
    blocks.push(
      block('resource', [terraformResources[kind].type, own], {
        environment_id,
        name: record.name,
        icon_uri: record.icon_uri,
        deployment_stage_id: place && reference('qovery_deployment_stage', place.stage, 'id'),
        is_skipped: place?.is_skipped,
        ...attributesOf(kind, record, secret),
        ...(terraformResources[kind].hasVariables ? listed(own, variables) : {}),
      }),
    )
  }
  return {
    'main.tf': `${provider}\n${blocks.join('\n')}`,
    'variables.tf': [...secrets.keys()].map(declare).join('\n'),
    ...(exported.secrets.size > 0 && { 'terraform.tfvars': assign(secrets) }),
  }
}

/** Kind and record come from the same row, so they match. */
const attributesOf = (kind: KindName, record: RecordOf<KindName>, secret: (key: string) => Hcl) =>
  terraformResources[kind].attributes(record as never, secret)

const provider = `terraform {
  required_providers {
    qovery = {
      source = "qovery/qovery"
    }
  }
}
`

const declare = (name: string): string => `variable "${name}" {\n  type      = string\n  sensitive = true\n}\n`

const assign = (secrets: ReadonlyMap<string, string | undefined>): string =>
  [...secrets]
    .flatMap(([name, text]) => (text === undefined ? [] : [block('', [], { [name]: text })]))
    .map((text) => text.replace(/^ \{\n {2}|\}\n$/g, ''))
    .join('')

/** Sorts variables into the provider's lists: one per type, with separate lists for secrets. */
function variableLists(variables: readonly OwnVariable[], secret: (record: OwnVariable) => Hcl) {
  const lists: Record<string, Hcl[]> = {}
  for (const record of variables) {
    const { key, description, is_secret, mount_path } = record
    const name = `${is_secret ? 'secret' : 'environment_variable'}${suffixes[record.variable_type]}`
    const base = record.base_key
    const value = record.variable_type === 'ALIAS' ? (base ?? '') : is_secret ? secret(record) : (record.value ?? '')
    const file = record.variable_type === 'FILE' && mount_path ? { mount_path } : {}
    lists[name] = [...(lists[name] ?? []), { key, value, ...file, ...(description && { description }) }]
  }
  return lists
}

const suffixes: Readonly<Record<OwnVariable['variable_type'], string>> = {
  VALUE: 's',
  FILE: '_files',
  ALIAS: '_aliases',
  OVERRIDE: '_overrides',
}

import type { KindName } from '@quayside/contract/services/kinds.ts'
import type { RecordOf } from '../services/index.ts'
import type { OwnVariable } from '../variables/index.ts'
import { block, type Hcl, reference } from './hcl.ts'
import { terraformResources } from './terraform-services.ts'
import { declaredStages, type ExportedStage } from './terraform-stages.ts'
import { variableLists } from './terraform-variables.ts'

/** An environment with everything in its export. */
export interface ExportedEnvironment {
  readonly name: string
  readonly mode: string
  readonly cluster_id: string
  readonly stages: readonly ExportedStage[]
  readonly services: readonly ExportedService[]
  /** The environment's own variables. */
  readonly variables: readonly OwnVariable[]
}

interface ExportedService {
  readonly kind: KindName
  readonly record: RecordOf<KindName>
  readonly variables: readonly OwnVariable[]
}

/** Names the blocks of a configuration and its variables for secrets. */
export interface Naming {
  /** Returns an unused label for a name. */
  readonly label: (name: string) => string
  /** Returns the reference to a new variable. `variableId` finds the text of a secret. */
  readonly secret: (name: string, variableId?: string) => Hcl
}

/** The label of the environment's block, and the blocks of the environment and its services. */
export interface EnvironmentBlocks {
  readonly label: string
  readonly blocks: readonly string[]
}

/** Pure: the blocks of an environment. `prefix` begins the labels of its stages and services. */
export function environmentBlocks(
  environment: ExportedEnvironment,
  project_id: Hcl,
  naming: Naming,
  prefix: (environment: string) => string,
): EnvironmentBlocks {
  const { name, mode, cluster_id, services, variables } = environment
  const own = naming.label(name)
  const environment_id = reference('qovery_environment', own, 'id')
  const head = { name, mode, project_id, cluster_id, ...listed(own, variables, naming) }
  const inner: Naming = { ...naming, label: (text) => naming.label(`${prefix(own)}${text}`) }
  const stages = stageBlocks(environment, environment_id, inner)
  return {
    label: own,
    blocks: [
      block('resource', ['qovery_environment', own], head),
      ...stages.blocks,
      ...services.map((service) =>
        serviceBlock(service, { environment_id, ...stages.placeOf.get(service.record.id) }, inner),
      ),
    ],
  }
}

/** The attributes that say where a service is. */
interface Place {
  readonly environment_id: Hcl
  readonly deployment_stage_id?: Hcl
  readonly is_skipped?: boolean
}

function stageBlocks({ stages, services }: ExportedEnvironment, environment_id: Hcl, { label }: Naming) {
  const kinds = new Map(services.map(({ kind, record }) => [record.id, kind]))
  const declared = declaredStages(stages, (id) => kinds.get(id))
  const placeOf = new Map<string, Omit<Place, 'environment_id'>>()
  for (const { service_id, is_skipped } of stages.flatMap((stage) => stage.services)) {
    placeOf.set(service_id, { is_skipped })
  }
  const blocks: string[] = []
  let former: Hcl | undefined
  for (const { name, description, services: placed } of declared) {
    const own = label(name)
    const id = reference('qovery_deployment_stage', own, 'id')
    const attributes = { environment_id, name, description, is_after: former }
    blocks.push(block('resource', ['qovery_deployment_stage', own], attributes))
    for (const { service_id, is_skipped } of placed) placeOf.set(service_id, { deployment_stage_id: id, is_skipped })
    former = id
  }
  return { blocks, placeOf }
}

function serviceBlock({ kind, record, variables }: ExportedService, place: Place, naming: Naming): string {
  const own = naming.label(record.name)
  const { type, hasVariables } = terraformResources[kind]
  const { environment_id, ...rest } = place
  return block('resource', [type, own], {
    environment_id,
    name: record.name,
    icon_uri: record.icon_uri,
    ...rest,
    ...attributesOf(kind, record, (key) => naming.secret(`${own}_${key}`)),
    ...(hasVariables ? listed(own, variables, naming) : {}),
  })
}

/** The variables of an owner, by the provider's lists. */
export const listed = (owner: string, variables: readonly OwnVariable[], { secret }: Naming) =>
  variableLists(variables, ({ key, id }) => secret(`${owner}_${key}`, id))

/** Kind and record come from the same row, so they match. */
const attributesOf = (kind: KindName, record: RecordOf<KindName>, secret: (key: string) => Hcl) =>
  terraformResources[kind].attributes(record as never, secret)

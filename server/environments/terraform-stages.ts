import { defaultStages, type KindName, serviceKinds } from '@quayside/contract/services/kinds.ts'

/** A stage of an environment with its services, in deployment order. */
export interface ExportedStage {
  readonly name: string
  readonly description: string
  readonly services: readonly { readonly service_id: string; readonly is_skipped: boolean }[]
}

const defaults: readonly string[] = defaultStages
const prefix = 'DEFAULT '

/**
 * Pure: the stages that an export declares. Every environment has the default stages from its
 * beginning, and the provider cannot name them. So none is declared if the services are in the
 * stages that they get by themselves. Otherwise all stages in use are declared, the default ones
 * under other names: they come after the empty default ones, in the same order.
 */
export function declaredStages(
  stages: readonly ExportedStage[],
  kindOf: (serviceId: string) => KindName | undefined,
): readonly ExportedStage[] {
  const used = stages.filter(({ name, services }) => services.length > 0 || !defaults.includes(name))
  const places = used.map(({ name }) => defaults.indexOf(name))
  const isUsual =
    places.every((place, index) => place >= 0 && place > (places[index - 1] ?? -1)) &&
    used.every(({ name, services }) => services.every(({ service_id }) => usualStage(kindOf(service_id)) === name))
  return isUsual ? [] : used.map((stage) => ({ ...stage, name: newName(stage.name, stages) }))
}

const usualStage = (kind: KindName | undefined): string | undefined => kind && serviceKinds[kind].defaultStage

/** Pure: a name that neither a new environment nor another exported stage has. */
function newName(name: string, stages: readonly ExportedStage[]): string {
  if (!defaults.includes(name)) return name
  const short = name.slice(prefix.length)
  const taken = new Set(stages.map((stage) => stage.name.toLowerCase()))
  const free = [short, ...stages.map((_, index) => `${short} ${index + 2}`)].find(
    (one) => !taken.has(one.toLowerCase()),
  )
  return free ?? short
}

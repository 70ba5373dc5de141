import type { api } from './client.ts'
import type { EndingName } from './endings.ts'

type Services = Awaited<ReturnType<typeof api.listServicesByEnvironmentId>>['results']
export type Service = Services[number]

/** Pure: the things that are lost with a service: its data, by place and size. */
export function lossesOf(service: Service, ending: EndingName = 'ALL'): readonly string[] {
  if (service.service_type === 'DATABASE') return [`the data of the database ${service.name} (${service.storage} GB)`]
  if (service.service_type === 'TERRAFORM') return [stackLoss(service.name, ending)]
  if (service.service_type === 'HELM') {
    return ending === 'KEEP_VOLUMES' ? [] : [`the volumes of the chart ${service.name} with their data`]
  }
  if (!('storage' in service)) return []
  return service.storage.map(({ mount_point, size }) => `the volume of ${service.name} at ${mount_point} (${size} GB)`)
}

const stackLoss = (name: string, ending: EndingName): string =>
  ending === 'SKIP_DESTROY'
    ? `the state of the stack ${name}, by which its resources could be changed`
    : `the resources that the stack ${name} has made`

/** Pure: the things that are lost with an environment. */
export const lossesOfAll = (services: Services): readonly string[] => [
  ...services.map(({ name, service_type: type }) => `the ${type.toLowerCase()} ${name}`),
  ...services.flatMap((service) => lossesOf(service)),
]

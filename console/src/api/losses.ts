import type { api } from './client.ts'

type Services = Awaited<ReturnType<typeof api.listServicesByEnvironmentId>>['results']
export type Service = Services[number]

/** Pure: the things that are lost with a service: its data, by place and size. */
export function lossesOf(service: Service): readonly string[] {
  if (service.service_type === 'DATABASE') return [`the data of the database ${service.name} (${service.storage} GB)`]
  if (service.service_type === 'TERRAFORM') return [`the resources that the stack ${service.name} has made`]
  if (!('storage' in service)) return []
  return service.storage.map(({ mount_point, size }) => `the volume of ${service.name} at ${mount_point} (${size} GB)`)
}

/** Pure: the things that are lost with an environment. */
export const lossesOfAll = (services: Services): readonly string[] => [
  ...services.map(({ name, service_type: type }) => `the ${type.toLowerCase()} ${name}`),
  ...services.flatMap(lossesOf),
]

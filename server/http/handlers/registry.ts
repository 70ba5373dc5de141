import { serviceStatuses } from '../../requests/index.ts'

import type { Handlers } from '../call.ts'
import type { Browse } from './browsing.ts'
import { referringServices } from './referring.ts'
import type { Rooms } from './rooms.ts'

const idOf = (ids: readonly string[]): string => ids[0] ?? ''

/** Handlers for container registries and Helm repositories. */
export const registryHandlers = (rooms: Rooms, browse: Browse) => {
  const { containerRegistries: images, helmRepositories: charts } = rooms.registries
  const asked = rooms.registries
  return {
    listContainerRegistry: async ({ target }) => ({ results: await images.list(target.id) }),
    createContainerRegistry: ({ target, body }) => images.create(target.id, body),
    getContainerRegistry: ({ target, ids }) => images.get(target.id, idOf(ids)),
    editContainerRegistry: ({ target, ids, body }) => images.edit(target.id, idOf(ids), body),
    deleteContainerRegistry: async ({ target, ids }) => void (await images.remove(target.id, idOf(ids))),
    listAvailableContainerRegistry: async () => ({ results: images.available() }),
    getContainerRegistryAssociatedServices: async ({ target, ids, caller }) => {
      const { id } = await images.get(target.id, idOf(ids))
      return { results: await referringServices(rooms.database, caller, 'container_registry_id', id) }
    },
    listImageVersions: async ({ caller, target, ids, query: { imageName, search } }) => {
      const registry = await images.open(rooms.database, target.id, idOf(ids))
      const results = await browse(caller, async (signal) => {
        if (imageName === undefined) {
          const names = await asked.images.search(registry, search ?? '', signal)
          return names.map((image_name) => ({ image_name, versions: [] }))
        }
        const versions = await asked.images.tags(registry, { name: imageName, signal })
        return [{ image_name: imageName, versions }]
      })
      return { results }
    },
    listRegistryServiceStatuses: async ({ target, ids, caller }) => {
      const { id } = await images.get(target.id, idOf(ids))
      const services = await referringServices(rooms.database, caller, 'container_registry_id', id)
      const results = await serviceStatuses(
        rooms.database,
        services.map(({ service_id }) => service_id),
      )
      return { results }
    },

    listHelmRepository: async ({ target }) => ({ results: await charts.list(target.id) }),
    createHelmRepository: ({ target, body }) => charts.create(target.id, body),
    getHelmRepository: ({ target, ids }) => charts.get(target.id, idOf(ids)),
    editHelmRepository: ({ target, ids, body }) => charts.edit(target.id, idOf(ids), body),
    deleteHelmRepository: async ({ target, ids }) => void (await charts.remove(target.id, idOf(ids))),
    listAvailableHelmRepository: async () => ({ results: charts.available() }),
    listChartVersions: async ({ caller, target, ids, query }) => {
      const repository = await charts.open(rooms.database, target.id, idOf(ids))
      return { results: await browse(caller, (signal) => asked.charts.charts(repository, query.chartName, signal)) }
    },
    getHelmRepositoryAssociatedServices: async ({ target, ids, caller }) => {
      const { id } = await charts.get(target.id, idOf(ids))
      return { results: await referringServices(rooms.database, caller, 'helm_repository_id', id) }
    },
  } satisfies Partial<Handlers>
}

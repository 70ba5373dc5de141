import Docker from 'dockerode'
import { readConfig } from '../server/config.ts'

export const docker = new Docker({ socketPath: readConfig({}).dockerSocket })

/**
 * Removes everything of an installation from the engine by its label: containers, networks, volumes,
 * and the images of its services. `host` is the host name of one of its applications.
 */
export async function removeInstance(host: string): Promise<void> {
  const shortId = /-([0-9a-f]{8})\.[^.]+$/.exec(host)?.[1] ?? ''
  const [one] = await docker.listContainers({ all: true, filters: { name: [`quay-${shortId}`] } })
  const instance = one?.Labels['quayside.instance']
  if (shortId === '' || !instance) return
  const filters = { label: [`quayside.instance=${instance}`] }
  const containers = await docker.listContainers({ all: true, filters })
  const services = new Set(containers.map(({ Labels }) => Labels['quayside.service']))
  for (const { Id } of containers) await docker.getContainer(Id).remove({ force: true, v: true }).catch(absent)
  for (const { Id } of await docker.listNetworks({ filters })) await docker.getNetwork(Id).remove().catch(absent)
  const { Volumes } = await docker.listVolumes({ filters })
  for (const { Name } of Volumes ?? []) await docker.getVolume(Name).remove().catch(absent)
  for (const service of services) {
    const images = await docker.listImages({ filters: { label: [`quayside.service=${service}`] } })
    for (const { Id } of images) await docker.getImage(Id).remove({ force: true }).catch(absent)
  }
}

export function absent(error: { statusCode?: number }): void {
  if (error.statusCode !== 404) throw error
}

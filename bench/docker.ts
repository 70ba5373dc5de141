import { readConfig, socketOf } from '../server/config.ts'
import type { SocketCall } from '../server/lib/socket-http.ts'
import { openDocker } from '../test/support/docker.ts'

/** The engine of this machine, beside the installation that is measured. */
export const engine = openDocker(socketOf(readConfig({})))

/** Sends one call to the engine. Returns its JSON answer; undefined for 404. */
export const docker = (
  method: SocketCall['method'],
  path: string,
  query: Readonly<Record<string, unknown>> = {},
): Promise<unknown> => engine.ask({ method, path, query })

/** What a list of Docker's published API says of a container, a network, a volume or an image. */
interface Listed {
  readonly Id: string
  readonly Name: string
  readonly Labels: Readonly<Record<string, string>>
}

/** Lists containers, stopped ones too, networks or images that pass the filters. */
export async function list(
  kind: 'containers' | 'networks' | 'images',
  filters: Readonly<Record<string, readonly string[]>>,
): Promise<Listed[]> {
  const path = kind === 'networks' ? '/networks' : `/${kind}/json`
  const answer = await docker('GET', path, { filters, ...(kind === 'containers' && { all: true }) })
  // The shape is that of Docker's published API.
  return Array.isArray(answer) ? (answer as Listed[]) : []
}

/**
 * Removes everything of an installation from the engine by its label: containers, networks,
 * volumes, and the images of its services. `instance` is the id of the installation.
 */
export async function removeInstance(instance: string): Promise<void> {
  const filters = { label: [`quayside.instance=${instance}`] }
  const containers = await list('containers', filters)
  const services = new Set(containers.map(({ Labels }) => Labels['quayside.service']))
  for (const { Id } of containers) await docker('DELETE', `/containers/${Id}`, { force: true, v: true })
  for (const { Id } of await list('networks', filters)) await docker('DELETE', `/networks/${Id}`)
  const { Volumes } = Object(await docker('GET', '/volumes', { filters }))
  for (const { Name } of (Volumes ?? []) as Listed[]) await docker('DELETE', `/volumes/${Name}`)
  for (const service of services) {
    const images = await list('images', { label: [`quayside.service=${service}`] })
    for (const { Id } of images) await docker('DELETE', `/images/${Id}`, { force: true })
  }
}

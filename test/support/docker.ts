import { request } from 'node:http'
import { json } from 'node:stream/consumers'
import { readConfig } from '../../server/config.ts'

/** The engine that the servers under test use, seen beside them. */
export const dockerSocket = readConfig().dockerSocket

/** One call of the engine's API; `undefined` for 404. Throws on other refusals. */
export async function askDocker(method: string, path: string): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: unknown }>()
  const call = request({ socketPath: dockerSocket, method, path, timeout: 30_000 }, (answer) => {
    const status = answer.statusCode ?? 0
    if (status === 204) answer.resume().on('end', () => resolve({ status, body: undefined }))
    else json(answer).then((body) => resolve({ status, body }), reject)
  })
  call.on('timeout', () => call.destroy(new Error(`the engine did not answer ${method} ${path}`)))
  call.on('error', reject)
  call.end()
  const { status, body } = await promise
  if (status === 404) return undefined
  if (status >= 300 && status !== 304) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`)
  return body
}

export interface Labelled {
  readonly Id: string
  readonly Name?: string
  readonly Names?: readonly string[]
  readonly State?: string
  readonly RepoTags?: readonly string[] | null
  readonly Labels: Readonly<Record<string, string>> | null
}

const filtered = (path: string, filters: object): string =>
  `${path}${path.includes('?') ? '&' : '?'}filters=${encodeURIComponent(JSON.stringify(filters))}`

/** Containers, also stopped ones, with all of these labels (`name=value`). */
export const containersWith = async (...labels: string[]): Promise<Labelled[]> =>
  list(await askDocker('GET', filtered('/containers/json?all=true', { label: labels })))

export const networksWith = async (...labels: string[]): Promise<Labelled[]> =>
  list(await askDocker('GET', filtered('/networks', { label: labels })))

/** Names of volumes with these labels. */
export async function volumesWith(...labels: string[]): Promise<string[]> {
  const answer = await askDocker('GET', filtered('/volumes', { label: labels }))
  const volumes: unknown = Object(answer).Volumes
  return Array.isArray(volumes) ? volumes.map((volume) => String(Object(volume).Name)) : []
}

/** Images of a service: everything that was built for it. */
export const imagesOf = async (service: string): Promise<Labelled[]> =>
  list(await askDocker('GET', filtered('/images/json', { label: [`quayside.service=${service}`] })))

/** Everything of one installation: containers first, for they hold the rest. */
export async function removeInstallation(instance: string, services: readonly string[]): Promise<void> {
  const label = `quayside.instance=${instance}`
  for (const { Id } of await containersWith(label)) await askDocker('DELETE', `/containers/${Id}?force=true&v=true`)
  for (const { Id } of await networksWith(label)) await askDocker('DELETE', `/networks/${Id}`)
  for (const name of await volumesWith(label)) await askDocker('DELETE', `/volumes/${name}?force=true`)
  for (const service of services) {
    for (const { Id } of await imagesOf(service)) await askDocker('DELETE', `/images/${Id}?force=true`)
  }
}

/** The answers are lists of objects by Docker's published API; what a test reads of them is what `Labelled` names. */
const list = (answer: unknown): Labelled[] => (Array.isArray(answer) ? (answer as Labelled[]) : [])

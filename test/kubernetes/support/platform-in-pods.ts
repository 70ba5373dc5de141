import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Reply } from '../../support/server-process.ts'
import { kubectl } from '../cluster/commands.ts'
import { chart, helm, type Values } from './helm.ts'
import type { PlatformGround } from './platform-ground.ts'

/** A release of the chart, by the name `quayside`. */
export interface PlatformInPods {
  /** Runs kubectl in the namespace of the release, and returns its output. */
  kubectl(args: readonly string[]): Promise<string>
  /** Installs or upgrades the release, and waits until its pods are ready. */
  apply(verb: 'install' | 'upgrade', values?: Values): Promise<string>
  /** Returns the address and the port of the Service. */
  service(): Promise<{ readonly host: string; readonly port: number }>
  /** Returns the names of the servers' pods, without those that are ending. */
  pods(): Promise<string[]>
  /** Returns what all servers have logged, also those before a restart. */
  logs(): Promise<string>
  /** Returns the name of a running pod whose log has this text. */
  podThatLogged(text: string): Promise<string | undefined>
  /** Returns a file of the directory that all servers share. */
  read(path: string): Promise<string>
  /**
   * Sends a call to the Service, by a connection of its own. Rejects if no answer arrives within
   * ten seconds.
   */
  call<T>(method: string, path: string, options: { token: string; body?: unknown }): Promise<Reply<T>>
}

/** Selects the objects of the release. */
export const selector = '--selector=app.kubernetes.io/instance=quayside'

export function platformIn({ namespace, values }: PlatformGround): PlatformInPods {
  const inNamespace = (args: readonly string[]) => kubectl(['--namespace', namespace, ...args])
  let known: Promise<{ spec: { clusterIP: string; ports: { port: number }[] } }> | undefined
  const service = async () => {
    known ??= inNamespace(['get', 'service', 'quayside', '--output=json']).then((text) => JSON.parse(text))
    const { spec } = await known
    return { host: spec.clusterIP, port: spec.ports[0]?.port ?? 0 }
  }
  const pods = async (): Promise<string[]> => {
    const { items } = JSON.parse(await inNamespace(['get', 'pods', selector, '--output=json']))
    const present = items.filter((pod: PodOutput) => pod.metadata.deletionTimestamp === undefined)
    return present.map((pod: PodOutput) => pod.metadata.name)
  }
  return {
    kubectl: inNamespace,
    service,
    apply: (verb, change = {}) =>
      helm([verb, 'quayside', chart, '--namespace', namespace, '--wait', '--timeout=280s'], { ...values, ...change }),
    pods,
    podThatLogged: async (text) => {
      const names = await pods()
      const logs = await Promise.all(names.map((name) => inNamespace(['logs', name]).catch(() => '')))
      return names.find((_, index) => logs[index]?.includes(text))
    },
    logs: async () => {
      const all = ['logs', selector, '--tail=-1', '--prefix']
      const before = await inNamespace([...all, '--previous', '--ignore-errors']).catch(() => '')
      return `${before}${await inNamespace([...all, '--ignore-errors'])}`
    },
    read: async (path) => {
      const program = `fs.readFileSync(${JSON.stringify(path)}, "utf8").trim()`
      return (await inNamespace(['exec', 'deployment/quayside', '--', 'node', '-p', program])).trim()
    },
    call: async (method, path, options) => {
      const { host, port } = await service()
      return send(`http://${host}:${port}${path}`, method, options)
    },
  }
}

/** The parts of a pod that kubectl prints. */
interface PodOutput {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string }
}

async function send<T>(url: string, method: string, { token, body }: { token: string; body?: unknown }) {
  const { promise, resolve, reject } = Promise.withResolvers<Reply<T>>()
  const headers = {
    authorization: `Token ${token}`,
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  const options = { method, headers, agent: false, signal: AbortSignal.timeout(10_000) }
  const sent = request(url, options, (answer) => {
    text(answer).then((content) => {
      // The contract promises this shape, and test/contract checks it.
      const parsed = (content === '' ? undefined : JSON.parse(content)) as T
      resolve({ status: answer.statusCode ?? 0, body: parsed })
    }, reject)
  })
  sent.on('error', reject)
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  return promise
}

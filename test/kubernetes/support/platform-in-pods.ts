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
  /** Returns the names of the servers' pods, without those that are ending. */
  pods(): Promise<string[]>
  /** Returns what all servers have logged, also those before a restart. */
  logs(): Promise<string>
  /** Returns a file of the directory that all servers share. */
  read(path: string): Promise<string>
  /**
   * Sends a call to the Service, by a connection of its own. Rejects if no answer arrives within
   * ten seconds.
   */
  call<T>(method: string, path: string, options: { token: string; body?: unknown }): Promise<Reply<T>>
}

const selector = '--selector=app.kubernetes.io/instance=quayside'

export function platformIn({ namespace, values }: PlatformGround): PlatformInPods {
  const inNamespace = (args: readonly string[]) => kubectl(['--namespace', namespace, ...args])
  const address = async (): Promise<string> =>
    inNamespace(['get', 'service', 'quayside', '--output=jsonpath={.spec.clusterIP}:{.spec.ports[0].port}'])
  let known: Promise<string> | undefined
  return {
    kubectl: inNamespace,
    apply: (verb, change = {}) =>
      helm([verb, 'quayside', chart, '--namespace', namespace, '--wait', '--timeout=280s'], { ...values, ...change }),
    pods: async () => {
      const { items } = JSON.parse(await inNamespace(['get', 'pods', selector, '--output=json']))
      const present = items.filter((pod: PodOutput) => pod.metadata.deletionTimestamp === undefined)
      return present.map((pod: PodOutput) => pod.metadata.name)
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
      known ??= address()
      return send(`http://${await known}${path}`, method, options)
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

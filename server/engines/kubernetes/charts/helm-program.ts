import { randomBytes } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { messageOf } from '../../../lib/error.ts'
import { type RunResult, run } from '../../../lib/run.ts'
import type { Secret } from '../../../lib/secret.ts'
import { EngineError } from '../../engine.ts'
import type { ApiProxy } from './api-proxy.ts'
import { prepareSessions } from './session-place.ts'

/** The program `helm`, and where it may keep files for the time of a call. */
export interface HelmSettings {
  /** A path, or a name that is looked up in the usual directories of programs. */
  readonly program: string
  /** A directory of this process alone, which is emptied at its first use. */
  readonly directory: string
}

/** A private directory with access to one cluster, in which `helm` runs. Its end removes it. */
export interface HelmSession extends AsyncDisposable {
  /** Writes a file that only this user can read. Returns its path. */
  write(path: string, content: string | Buffer): Promise<string>
  readonly directory: string
  run(
    args: readonly string[],
    limits: { readonly timeoutMs: number; readonly signal: AbortSignal; readonly maxBytes?: number },
  ): Promise<RunResult>
}

/** Memory of one call in bytes. Templates of a chart may try to fill it. */
const mostMemory = 2 * 1024 ** 3
/** A port to which nothing listens: `helm` itself never goes to a network. */
const nowhere = 'http://127.0.0.1:9'

/** Returns what opens sessions. Throws EngineError('refused') if the program is missing. */
export function createHelm({ program, directory }: HelmSettings) {
  let swept: Promise<string> | undefined
  const place = (): Promise<string> => {
    swept ??= prepareSessions(directory).catch((error: unknown) => {
      swept = undefined
      throw error
    })
    return swept
  }
  let isChecked = false
  return {
    /** Returns the version, such as `v3.22.0`. Throws EngineError('refused'), with the remedy. */
    version: (signal: AbortSignal): Promise<string> => readVersion(program, signal),

    /** Checks the version before the first call. Throws EngineError('refused'), with the remedy. */
    async check(signal: AbortSignal): Promise<void> {
      if (!isChecked) await readVersion(program, signal)
      isChecked = true
    },

    async open({ url, name }: Pick<ApiProxy, 'url' | 'name'>, namespace: string): Promise<HelmSession> {
      const all = await place()
      const own = join(all, randomBytes(12).toString('hex'))
      await mkdir(own, { recursive: true, mode: 0o700 })
      const write = async (path: string, content: string | Buffer): Promise<string> => {
        const whole = join(own, path)
        await mkdir(dirname(whole), { recursive: true, mode: 0o700 })
        await writeFile(whole, content, { mode: 0o600 })
        return whole
      }
      const kubeconfig = await write('kubeconfig', kubeconfigOf(url, namespace))
      return {
        directory: own,
        write,
        run: (args, limits) =>
          runHelm(program, args, { ...limits, own, kubeconfig, known: join(all, `known-${name}`) }),
        [Symbol.asyncDispose]: () => rm(own, { recursive: true, force: true, maxRetries: 3 }),
      }
    },
  }
}
export type Helm = ReturnType<typeof createHelm>

async function runHelm(
  program: string,
  args: readonly string[],
  given: Parameters<HelmSession['run']>[1] & Readonly<Record<'own' | 'kubeconfig' | 'known', string>>,
): Promise<RunResult> {
  const { own, kubeconfig, known, ...limits } = given
  const env = {
    HOME: own,
    TMPDIR: own,
    KUBECONFIG: kubeconfig,
    // Descriptions of the kinds of the cluster, for later calls at the same address.
    KUBECACHEDIR: known,
    HELM_CACHE_HOME: join(own, 'cache'),
    HELM_CONFIG_HOME: join(own, 'config'),
    HELM_DATA_HOME: join(own, 'data'),
    HELM_PLUGINS: join(own, 'plugins'),
    HELM_DRIVER: 'secret',
    HTTP_PROXY: nowhere,
    HTTPS_PROXY: nowhere,
    NO_PROXY: '',
    GOMEMLIMIT: `${mostMemory / 2}`,
  }
  return run('prlimit', [`--data=${mostMemory}`, program, ...args], { cwd: own, env, ...limits })
}

function kubeconfigOf(server: Secret, namespace: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'cluster',
    clusters: [{ name: 'cluster', cluster: { server: server.reveal() } }],
    contexts: [{ name: 'cluster', context: { cluster: 'cluster', user: 'nobody', namespace } }],
    users: [{ name: 'nobody', user: {} }],
  })
}

const remedy = 'Install Helm 3.14 or newer on the machine of the platform, or set QUAYSIDE_HELM to its path'

async function readVersion(program: string, signal: AbortSignal): Promise<string> {
  const asked = run(program, ['version', '--template', '{{.Version}}'], { timeoutMs: 20_000, signal })
  const { exitCode, stdout } = await asked.catch((cause: unknown) => {
    signal.throwIfAborted()
    throw new EngineError('refused', `the program helm cannot be started (${messageOf(cause)}). ${remedy}`, { cause })
  })
  const version = stdout.toString().trim()
  const [, major, minor] = /^v(\d{1,3})\.(\d{1,3})\./.exec(version) ?? []
  const isKnown = exitCode === 0 && (major === '4' || (major === '3' && Number(minor) >= 14))
  if (isKnown) return version
  throw new EngineError('refused', `the program helm has the version "${version.slice(0, 50)}". ${remedy}`)
}

import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { json } from 'node:stream/consumers'
import { debianPackages, engineVersions, installedPackages } from '../lib/engine-versions.ts'
import { messageOf } from '../lib/error.ts'
import { layerQuota } from '../lib/layer-quota.ts'
import { run } from '../lib/run.ts'
import type { BuilderFact, EngineFact } from './facts.ts'

const limitMs = 5_000

/**
 * Collects facts from the engine at a unix socket, if there is one. `now` is the time in
 * milliseconds.
 */
export async function gatherEngine(
  socket: string | undefined,
  now: () => number,
): Promise<EngineFact & { readonly root?: string }> {
  if (socket === undefined) return { state: 'none' }
  try {
    const asked = now()
    // The shape is that of Docker's published API.
    const info = (await ask(socket, '/info')) as {
      ServerVersion?: string
      LiveRestoreEnabled?: boolean
      Driver?: string
      DriverStatus?: readonly (readonly [string, string])[] | null
      SystemTime?: string
      DockerRootDir?: string
    }
    const [answer, packages] = await Promise.all([ask(socket, '/version'), printedPackages()])
    const { Driver: driver = 'unknown', DriverStatus: status, DockerRootDir: root = '' } = info
    const mountinfo = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '')
    const itsTime = Date.parse(info.SystemTime ?? '')
    return {
      state: 'answers',
      version: info.ServerVersion ?? 'unknown',
      versions: engineVersions(answer, packages),
      builder: await gatherBuilder(socket),
      liveRestore: info.LiveRestoreEnabled === true,
      storageDriver: driver,
      layerQuota: layerQuota({ driver, status: status ?? [], root, mountinfo }),
      backingFilesystem: status?.find(([name]) => name === 'Backing Filesystem')?.[1] ?? '',
      // It read its clock during the request.
      skewMs: Number.isNaN(itsTime) ? 0 : itsTime - Math.max(asked, Math.min(itsTime, now())),
      ...(root && { root }),
    }
  } catch (error) {
    return { state: 'silent', socket, reason: messageOf(error) }
  }
}

/** Settings of kernels by which ordinary users may have no user namespace. */
const namespaceSettings = [
  { path: '/proc/sys/user/max_user_namespaces', denied: '0' },
  { path: '/proc/sys/kernel/unprivileged_userns_clone', denied: '0' },
  { path: '/proc/sys/kernel/apparmor_restrict_unprivileged_userns', denied: '1' },
]

async function gatherBuilder(socket: string): Promise<BuilderFact> {
  const filters = JSON.stringify({ reference: ['quayside/builder', 'quayside/builder-fetched'] })
  const images = await ask(socket, `/images/json?filters=${encodeURIComponent(filters)}`)
  const values = await Promise.all(
    namespaceSettings.map(async ({ path, denied }) => {
      const value = (await readFile(path, 'utf8').catch(() => '')).trim()
      return value === denied ? `${path.slice('/proc/sys/'.length).replaceAll('/', '.')}=${value}` : undefined
    }),
  )
  const deniedBy = values.find((value) => value !== undefined)
  return { hasImage: Array.isArray(images) && images.length > 0, deniedBy }
}

/** Debian's own versions say which fixes its packages have. Empty on other systems. */
async function printedPackages() {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query replaces these names itself
  const args = ['--show', '--showformat=${Package} ${Version}\\n', ...debianPackages]
  // It fails if one of the packages is missing, and prints the others.
  const found = await run('dpkg-query', args, { timeoutMs: limitMs, maxBytes: 64 * 1024 }).catch(() => undefined)
  return installedPackages(found?.stdout.toString() ?? '')
}

function ask(socketPath: string, path: string): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const outgoing = request({ socketPath, path, timeout: limitMs }, (answer) => {
    if (answer.statusCode === 200) json(answer).then(resolve, reject)
    else {
      answer.resume()
      reject(new Error(`it answered ${answer.statusCode}`))
    }
  })
  outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${limitMs / 1000} s`)))
  outgoing.on('error', reject)
  outgoing.end()
  return promise
}

import { readFile } from 'node:fs/promises'
import { type LayerQuota, layerQuota } from '../../lib/layer-quota.ts'
import type { Workload } from '../engine.ts'
import { createContainer } from './containers.ts'
import { type DockerDaemon, isRefusal } from './daemon.ts'
import type { ContainerCreateOptions } from './docker-api.ts'
import { inspectImage, inspectPinned } from './local-images.ts'

const gibibyte = 1024 ** 3

type Limited = Pick<Workload, 'image' | 'layerGiB'>

/**
 * Limits what a container may write outside of its volumes, on engines that enforce this. Asks the
 * daemon once, and again after the connection broke: a restart may change where it keeps layers.
 */
export class LayerLimits {
  readonly #daemon: DockerDaemon
  /** Called when the daemon rejects a limit, once for each connection. */
  readonly #whenRefused: (message: string) => void
  #quota: LayerQuota | undefined
  #contact = 0

  constructor(options: { readonly daemon: DockerDaemon; readonly whenRefused: (message: string) => void }) {
    this.#daemon = options.daemon
    this.#whenRefused = options.whenRefused
  }

  /** Drops the daemon's answer, because the daemon may have restarted. */
  forget(): void {
    this.#contact++
    this.#quota = undefined
  }

  /**
   * Creates the container of a workload as `createContainer` does, with its limit if the engine
   * enforces limits.
   */
  async create(
    workload: Limited,
    container: Parameters<typeof createContainer>[1],
    signal: AbortSignal,
  ): Promise<string> {
    const bytes = await this.#bytesFor(workload, signal)
    if (bytes === undefined) return createContainer(this.#daemon, container, signal)
    try {
      return await createContainer(this.#daemon, { ...container, spec: withSize(container.spec, bytes) }, signal)
    } catch (error) {
      if (!(error instanceof Error) || !isRefusal(error.cause, 400, 500)) throw error
      // Success without the limit shows that the limit was the reason.
      const made = await createContainer(this.#daemon, container, signal)
      this.#refused(error.cause.message)
      return made
    }
  }

  /** Returns the limit in bytes. Undefined: no limit is set. */
  async #bytesFor({ image, layerGiB }: Limited, signal: AbortSignal): Promise<number | undefined> {
    if (!layerGiB) return undefined
    const quota = await this.#ask(signal)
    if (!quota.isEnforced) return undefined
    const find = image.includes('@sha256:') ? inspectPinned : inspectImage
    const below = quota.countsImage ? ((await find(this.#daemon, image, signal))?.Size ?? 0) : 0
    return Math.ceil(layerGiB * gibibyte) + below
  }

  async #ask(signal: AbortSignal): Promise<LayerQuota> {
    if (this.#quota) return this.#quota
    const contact = this.#contact
    const quota = await askForQuota(this.#daemon, signal)
    if (contact !== this.#contact) return quota
    // Another container may have shown meanwhile that the daemon rejects limits.
    this.#quota ??= quota
    return this.#quota
  }

  #refused(message: string): void {
    const isKnown = this.#quota?.isEnforced === false
    if (isAboutLimits(message)) this.#quota = { isEnforced: false, because: message }
    if (!isKnown) this.#whenRefused(message)
  }
}

/** Recognises the words of storage drivers. Any other reason may be gone at the next container. */
const isAboutLimits = (message: string): boolean => /storage[- ]opt|storage size|quota|qgroup/i.test(message)

const withSize = (spec: ContainerCreateOptions, bytes: number): ContainerCreateOptions => ({
  ...spec,
  // Every driver reads a number without a unit as bytes.
  HostConfig: { ...spec.HostConfig, StorageOpt: { size: String(bytes) } },
})

async function askForQuota(daemon: DockerDaemon, signal: AbortSignal): Promise<LayerQuota> {
  // Docker's published API guarantees this shape.
  const info = (await daemon.json({ method: 'GET', path: '/info', signal })) as {
    Driver?: string
    DriverStatus?: readonly (readonly [string, string])[] | null
    DockerRootDir?: string
  }
  return layerQuota({
    driver: info.Driver ?? '',
    status: info.DriverStatus ?? [],
    root: info.DockerRootDir ?? '',
    mountinfo: await readFile('/proc/self/mountinfo', 'utf8').catch(() => ''),
  })
}

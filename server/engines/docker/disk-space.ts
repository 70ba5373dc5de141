import { statfs } from 'node:fs/promises'
import type { Clock } from '../../lib/clock.ts'
import type { DiskSpace } from '../engine.ts'
import type { DockerDaemon } from './daemon.ts'

/** The daemon may keep its data elsewhere after a restart. */
const rememberMs = 600_000

/** Knows the directory of the daemon's data, and reads the free space of its file system. */
export class DiskRoot {
  readonly #daemon: DockerDaemon
  readonly #clock: Pick<Clock, 'monotonic'>
  #known: { readonly directory: string | undefined; readonly untilMs: number } | undefined

  constructor({ daemon, clock }: { readonly daemon: DockerDaemon; readonly clock: Pick<Clock, 'monotonic'> }) {
    this.#daemon = daemon
    this.#clock = clock
  }

  /** Asks the daemon every ten minutes only. */
  async directory(signal: AbortSignal): Promise<string | undefined> {
    const now = this.#clock.monotonic()
    if (!this.#known || this.#known.untilMs <= now) {
      const info = Object(await this.#daemon.json({ method: 'GET', path: '/info', signal, timeoutMs: 20_000 }))
      const directory = typeof info.DockerRootDir === 'string' ? info.DockerRootDir : undefined
      this.#known = { directory, untilMs: now + rememberMs }
    }
    return this.#known.directory
  }

  /** Engine.diskSpace for Docker. */
  async space(signal: AbortSignal): Promise<DiskSpace | undefined> {
    const directory = await this.directory(signal)
    const found = directory && (await statfs(directory).catch(() => undefined))
    if (!found) return undefined
    const { bsize, blocks, bavail, files, ffree } = found
    return { totalBytes: bsize * blocks, freeBytes: bsize * bavail, totalInodes: files, freeInodes: ffree }
  }
}

import { mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import type { AddressGuard } from '../../../lib/address.ts'
import type { Clock } from '../../../lib/clock.ts'
import { createKeyedSlots, type KeyedSlots } from '../../../lib/keyed-slots.ts'
import { createOpenStream, type OpenStream } from '../../../lib/safe-stream.ts'
import { EngineError, type RegistryLogin } from '../../engine.ts'
import type { DockerDaemon } from '../daemon.ts'
import type { ImageReference } from '../image-reference.ts'
import { RegistryClient } from './client.ts'
import { placesOf, type RegistrySettings, readSettings } from './places.ts'
import { PresentLayers } from './present-layers.ts'
import { createSource, type ImageSource } from './source.ts'

/** The tools and limits for asking registries. */
export interface RegistryTools {
  readonly clock: Clock
  readonly open: OpenStream
  /** The largest size of an image. */
  readonly maxImageBytes: number
  /**
   * The space that stays free on the engine's disk and on the disk of partial images; undefined:
   * the default.
   */
  readonly floorBytes: number | undefined
  /** The fetches in progress, by pinned reference. */
  readonly fetching: KeyedSlots
  /** A repository of each sent blob, by host and digest. */
  readonly places: Map<string, string>
  /** The directory for parts of images until the engine has them. */
  spoolDirectory(): Promise<string>
  settings(signal: AbortSignal): Promise<RegistrySettings>
}

/** The tools and limits for fetching images to one engine. */
export interface Registries extends RegistryTools {
  readonly daemon: DockerDaemon
  readonly present: PresentLayers
}

/** The time after which the daemon's registry settings are read again. */
const settingsMs = 60_000

export interface ToolOptions {
  readonly clock: Clock
  readonly guard: AddressGuard
  readonly maxImageBytes: number
  readonly floorBytes?: number | undefined
  /**
   * A directory of this engine alone: files of an earlier process are removed. Without it, the
   * machine's temporary directory is used.
   */
  readonly spoolDirectory?: string
}

/** The registry settings are those of a Docker daemon. */
export function createRegistries({ daemon, ...options }: ToolOptions & { readonly daemon: DockerDaemon }): Registries {
  const { clock } = options
  let read: { readonly at: number; readonly settings: RegistrySettings } | undefined
  const settings = async (signal: AbortSignal): Promise<RegistrySettings> => {
    if (!read || clock.monotonic() - read.at > settingsMs) {
      read = { at: clock.monotonic(), settings: await readSettings(daemon, signal) }
    }
    return read.settings
  }
  return { ...createRegistryTools(options, settings), daemon, present: new PresentLayers(daemon) }
}

export function createRegistryTools(
  { clock, guard, maxImageBytes, floorBytes, spoolDirectory }: ToolOptions,
  settings: RegistryTools['settings'],
): RegistryTools {
  let emptied: Promise<void> | undefined
  return {
    settings,
    clock,
    open: createOpenStream(guard),
    maxImageBytes,
    floorBytes,
    fetching: createKeyedSlots(),
    places: new Map(),
    async spoolDirectory() {
      if (spoolDirectory === undefined) return tmpdir()
      emptied ??= rm(spoolDirectory, { recursive: true, force: true })
      await emptied
      await mkdir(spoolDirectory, { recursive: true, mode: 0o700 })
      return spoolDirectory
    },
  }
}

/** Returns the source of a reference's image for one caller. */
export async function sourceOf(
  registries: Pick<RegistryTools, 'open' | 'clock' | 'settings'>,
  { host, name }: Pick<ImageReference, 'host' | 'name'>,
  login: RegistryLogin | undefined,
  signal: AbortSignal,
): Promise<ImageSource> {
  const { open, clock } = registries
  if (!isAddress(host)) {
    throw new EngineError(
      'refused',
      `The image "${name.slice(0, 200)}" has no valid registry: "${host.slice(0, 100)}" is not ` +
        'the address of a host. Correct the host and port in its name.',
    )
  }
  const repository = name.slice(host.length + 1)
  const places = placesOf(host, await registries.settings(signal))
  return createSource(places.map((place) => new RegistryClient({ open, clock, place, repository, login })))
}

/** Returns the client for sending an image to a repository. */
export async function targetOf(
  registries: Pick<RegistryTools, 'open' | 'clock' | 'settings'>,
  { host, name }: Pick<ImageReference, 'host' | 'name'>,
  login: RegistryLogin | undefined,
  signal: AbortSignal,
): Promise<RegistryClient> {
  const { open, clock } = registries
  const places = placesOf(host, await registries.settings(signal))
  // Mirrors come first, and accept no uploads.
  const place = places.at(-1)
  if (!place || !isAddress(host))
    throw new EngineError('refused', `"${host.slice(0, 100)}" is not the address of a registry.`)
  return new RegistryClient({ open, clock, place, repository: name.slice(host.length + 1), login })
}

/**
 * Returns whether URLs read this text as the same host and port: they allow no ports above 65535,
 * and read numbers as addresses.
 */
function isAddress(host: string): boolean {
  const read = URL.parse(`https://${host}`)?.host
  return read !== undefined && [read, `${read}:443`].includes(host.toLowerCase())
}

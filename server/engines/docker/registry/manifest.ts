import { ForeignJsonProblem, parseForeign } from '../../../lib/foreign-json.ts'
import { RegistryProblem } from '../registry-problem.ts'
import type { Platform } from './places.ts'

export const mostManifestBytes = 4 * 1024 * 1024
export const mostConfigBytes = 8 * 1024 * 1024
/** The most layers that Docker can stack. */
const mostLayers = 127
/** Platforms and their variants. */
const mostEntries = 1000

/** The accepted manifest formats. Older ones are not supported. */
export const manifestTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ')

/** A blob as a manifest names it. */
export interface Blob {
  readonly digest: string
  /** Its size in bytes as it is sent. */
  readonly size: number
}

export interface ImageManifest {
  /** Its media type, which a registry must hear again with its bytes. */
  readonly mediaType: string
  readonly config: Blob
  readonly layers: readonly Blob[]
}

const refuse = (said: string): RegistryProblem => new RegistryProblem('form', said)

/**
 * Reads a manifest whose bytes have the requested digest. Its content and its own `mediaType`
 * decide its form, never a header. Returns an image, or, from a list, the digest of the manifest
 * for this platform. Throws RegistryProblem.
 */
export function readManifest(bytes: Buffer, platform: Platform): ImageManifest | { readonly digest: string } {
  const { schemaVersion, mediaType, manifests, layers, config, fsLayers } = parsed(bytes, 'its manifest')
  if (schemaVersion === 1 || fsLayers !== undefined)
    throw refuse('its manifest has the form "schema 1", which is obsolete')
  const isIndex = manifests !== undefined
  if (isIndex === (layers !== undefined)) throw refuse('its manifest is neither an image nor a list of images')
  const types = isIndex
    ? /(?:manifest\.list\.v2|image\.index\.v1)\+json$/
    : /(?:manifest\.v2|image\.manifest\.v1)\+json$/
  if (mediaType !== undefined && !types.test(String(mediaType)))
    throw refuse(`its manifest says that it is ${quoted(mediaType)}`)
  if (isIndex) return { digest: choose(entriesOf(manifests), platform) }
  return { mediaType: typeof mediaType === 'string' ? mediaType : typeFor(config), ...imageOf(config, layers) }
}

/** The media type of a manifest that does not say its own, which only OCI allows. */
const typeFor = (config: unknown): string =>
  String(Object(config).mediaType).startsWith('application/vnd.docker.')
    ? 'application/vnd.docker.distribution.manifest.v2+json'
    : 'application/vnd.oci.image.manifest.v1+json'

function imageOf(config: unknown, layers: unknown): Omit<ImageManifest, 'mediaType'> {
  const { mediaType } = Object(config)
  if (!/^application\/vnd\.(?:docker\.container\.image|oci\.image\.config)\.v1\+json$/.test(String(mediaType))) {
    throw refuse(`it is not a container image, but ${quoted(mediaType)}`)
  }
  if (!Array.isArray(layers) || layers.length > mostLayers) throw refuse(`it has more than ${mostLayers} layers`)
  return { config: { ...blobOf(config, mostConfigBytes) }, layers: layers.map(layerOf) }
}

/**
 * Reads the descriptor of a layer. Layers with URLs of their own are never fetched: the author of
 * the image would choose those addresses.
 */
function layerOf(layer: unknown): Blob {
  const { mediaType, urls } = Object(layer)
  if (/foreign|nondistributable/.test(String(mediaType)) || (Array.isArray(urls) && urls.length > 0)) {
    throw refuse('one of its layers is outside of the registry')
  }
  if (
    !/^application\/vnd\.(?:docker\.image\.rootfs\.diff\.tar(?:\.gzip|\.zstd)?|oci\.image\.layer\.v1\.tar(?:\+gzip|\+zstd)?)$/.test(
      String(mediaType),
    )
  ) {
    throw refuse(`one of its layers is ${quoted(mediaType)}`)
  }
  return blobOf(layer, Number.MAX_SAFE_INTEGER)
}

function blobOf(descriptor: unknown, mostBytes: number): Blob {
  const { digest, size } = Object(descriptor)
  if (typeof digest !== 'string' || !isDigest(digest)) throw refuse('it has a part without a sha256 digest')
  if (!Number.isSafeInteger(size) || size < 0 || size > mostBytes) throw refuse('it has a part without a valid size')
  return { digest, size }
}

export const isDigest = (text: string): boolean => /^sha256:[0-9a-f]{64}$/.test(text)

interface Entry {
  readonly digest: string
  readonly os: unknown
  readonly architecture: unknown
  readonly variant: unknown
}

function entriesOf(manifests: unknown): Entry[] {
  if (!Array.isArray(manifests) || manifests.length > mostEntries)
    throw refuse(`it lists more than ${mostEntries} manifests`)
  return manifests.flatMap((entry) => {
    const { digest, mediaType, platform } = Object(entry)
    // A list inside a list has no reliable platform.
    if (!/(?:manifest\.v2|image\.manifest\.v1)\+json$/.test(String(mediaType ?? 'manifest.v2+json'))) return []
    const { os, architecture, variant } = Object(platform)
    return typeof digest === 'string' && isDigest(digest) ? [{ digest, os, architecture, variant }] : []
  })
}

/** Returns the manifest for this platform; of several, the one with the nearest variant. */
function choose(entries: readonly Entry[], { os, architecture, variant }: Platform): string {
  const rank = (entry: Entry): number => {
    if (entry.os !== os || entry.architecture !== architecture) return -1
    if (entry.variant === undefined || entry.variant === '') return architecture === 'arm' ? 1 : 100
    const [wanted, found] = [variant, entry.variant].map((text) => Number(/^v(\d+)$/.exec(String(text ?? ''))?.[1]))
    if (architecture !== 'arm') return entry.variant === (architecture === 'arm64' ? 'v8' : 'v1') ? 101 : 1
    return found !== undefined && found <= (wanted ?? 7) ? found : -1
  }
  const [best] = entries.toSorted((a, b) => rank(b) - rank(a))
  if (best && rank(best) >= 0) return best.digest
  const all = [...new Set(entries.map((entry) => `${entry.os}/${entry.architecture}`))].slice(0, 10).join(', ')
  throw new RegistryProblem(
    'platform',
    `it has no image for ${os}/${architecture}${all && `, only for ${all}`}`.slice(0, 300),
  )
}

/**
 * Returns the diff ids of an image's layers, one for each layer of its manifest. Throws
 * RegistryProblem.
 */
export function readDiffIds(config: Buffer, layers: number): string[] {
  const ids: unknown = Object(parsed(config, 'its configuration')['rootfs']).diff_ids
  const found = Array.isArray(ids) ? ids.filter((id) => typeof id === 'string' && isDigest(id)) : []
  if (found.length !== layers || !Array.isArray(ids) || ids.length !== layers) {
    throw refuse('its configuration and its manifest name different layers')
  }
  return found
}

function parsed(bytes: Buffer, what: string): Readonly<Record<string, unknown>> {
  try {
    return Object(parseForeign(bytes, { bytes: mostConfigBytes }))
  } catch (cause) {
    if (!(cause instanceof ForeignJsonProblem)) throw cause
    throw new RegistryProblem('form', `${what} ${cause.message}`, { cause })
  }
}

const quoted = (value: unknown): string => JSON.stringify(String(value).slice(0, 100))

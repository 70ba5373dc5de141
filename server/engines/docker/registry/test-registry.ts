import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { type Header, pack } from 'tar-stream'

export const sha256 = (bytes: string | Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

const manifestType = 'application/vnd.oci.image.manifest.v1+json'

/** An image in a registry: a manifest, and blobs by their digests. */
export interface TestImage {
  readonly digest: string
  readonly manifest: Buffer
  readonly blobs: ReadonlyMap<string, Buffer>
  readonly diffIds: readonly string[]
}

/** A layer with one file. */
export async function tarOf(content: string | Buffer, header: Partial<Header> = {}): Promise<Buffer> {
  const tar = pack()
  tar.entry({ name: 'who', mode: 0o644, ...header }, content)
  tar.finalize()
  return buffer(tar)
}

export interface ImageParts {
  /** Unpacked layers. */
  readonly layers?: readonly Buffer[]
  /** The compression of layers, and their media type. */
  readonly compress?: (layer: Buffer) => Buffer
  readonly layerType?: string
  /** Overrides of the manifest, of each layer's descriptor and of the configuration. */
  readonly manifest?: object
  readonly descriptor?: object
  readonly config?: object
}

export async function makeImage(parts: ImageParts = {}): Promise<TestImage> {
  const layers = parts.layers ?? [await tarOf('hello')]
  const compress = parts.compress ?? gzipSync
  const packed = layers.map((layer) => compress(layer))
  const diffIds = layers.map(sha256)
  const config = { architecture: 'amd64', os: 'linux', config: {}, rootfs: { type: 'layers', diff_ids: diffIds } }
  const configBytes = Buffer.from(JSON.stringify({ ...config, ...parts.config }))
  const describe = (mediaType: string, bytes: Buffer) => ({ mediaType, size: bytes.length, digest: sha256(bytes) })
  const layerType = parts.layerType ?? 'application/vnd.oci.image.layer.v1.tar+gzip'
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: manifestType,
      config: describe('application/vnd.oci.image.config.v1+json', configBytes),
      layers: packed.map((layer) => ({ ...describe(layerType, layer), ...parts.descriptor })),
      ...parts.manifest,
    }),
  )
  const blobs = new Map([configBytes, ...packed].map((bytes) => [sha256(bytes), bytes]))
  return { digest: sha256(manifest), manifest, blobs, diffIds }
}

/** Answers the request and returns true, or leaves it to the registry. */
export type Misbehaviour = (request: IncomingMessage, response: ServerResponse) => boolean | undefined

export interface TestRegistry {
  /** `127.0.0.1:<port>`. */
  readonly host: string
  readonly asked: {
    readonly path: string
    readonly authorization: string | undefined
    readonly range: string | undefined
  }[]
  misbehave: Misbehaviour
  /** Publishes the image under the tag and its digest. */
  put(image: TestImage, tag?: string): void
  close(): Promise<void>
}

/** A registry in memory, for all names, that behaves as the test says. */
export async function startTestRegistry(address = '127.0.0.1'): Promise<TestRegistry> {
  const manifests = new Map<string, Buffer>()
  const blobs = new Map<string, Buffer>()
  const asked: TestRegistry['asked'] = []
  const answer: RequestListener = (request, response) => {
    const path = request.url ?? ''
    asked.push({ path, authorization: request.headers.authorization, range: request.headers.range })
    if (registry.misbehave(request, response)) return
    const [, kind, name = ''] = /\/(manifests|blobs)\/([^/?]+)$/.exec(path) ?? []
    const found = kind === 'manifests' ? manifests.get(name) : blobs.get(name)
    if (!found)
      return void response.writeHead(404).end('{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}')
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0)
    response.setHeader('docker-content-digest', sha256(found))
    response.setHeader('content-type', kind === 'manifests' ? manifestType : 'application/octet-stream')
    response.setHeader('content-length', found.length - from)
    if (from > 0) response.setHeader('content-range', `bytes ${from}-${found.length - 1}/${found.length}`)
    response.writeHead(from > 0 ? 206 : 200).end(request.method === 'HEAD' ? undefined : found.subarray(from))
  }
  const server = createServer(answer).listen(0, address)
  await once(server, 'listening')
  const registry: TestRegistry = {
    // A server that listens on a port has an address with one.
    host: `${address}:${(server.address() as AddressInfo).port}`,
    asked,
    misbehave: () => undefined,
    put(image, tag) {
      manifests.set(image.digest, image.manifest)
      if (tag !== undefined) manifests.set(tag, image.manifest)
      for (const [digest, bytes] of image.blobs) blobs.set(digest, bytes)
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return registry
}

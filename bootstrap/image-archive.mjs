import { createHash } from 'node:crypto'
import { createReadStream, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mustExecute } from './execute.mjs'

const advice = 'Check the free space, and try again.'
/** Equal files make an equal archive, for every user and at any time. */
const sameAlways = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--format=gnu']

/**
 * Packs a directory as a layer.
 * @param {string} directory
 * @param {string} file
 * @param {string[]} [options]
 */
export async function packLayer(directory, file, options = []) {
  await mustExecute('tar', [...sameAlways, ...options, '-C', directory, '-cf', file, '.'], { advice })
  return file
}

/**
 * Writes an image as a tar that both the OCI image layout and "docker load" describe. Moves the
 * files of the layers into it. Returns the digest of its manifest.
 * @param {object} image
 * @param {string} image.reference
 * @param {string} image.architecture
 * @param {readonly string[]} image.layers
 * @param {object} image.config
 * @param {string} image.scratch
 * @param {string} image.file
 */
export async function writeArchive({ reference, architecture, layers, config, scratch, file }) {
  const layout = join(scratch, 'layout')
  const blobs = join(layout, 'blobs', 'sha256')
  mkdirSync(blobs, { recursive: true })
  /** @param {unknown} content */
  const put = (content) => {
    const bytes = Buffer.from(JSON.stringify(content))
    const digest = createHash('sha256').update(bytes).digest('hex')
    writeFileSync(join(blobs, digest), bytes)
    return { digest: `sha256:${digest}`, size: bytes.length }
  }
  const stored = []
  for (const layer of layers) {
    const { size } = statSync(layer)
    const digest = await digestOf(layer)
    renameSync(layer, join(blobs, digest))
    stored.push({ mediaType: 'application/vnd.oci.image.layer.v1.tar', digest: `sha256:${digest}`, size })
  }
  const created = '1970-01-01T00:00:00Z'
  const described = put({
    architecture,
    os: 'linux',
    created,
    config,
    rootfs: { type: 'layers', diff_ids: stored.map(({ digest }) => digest) },
    history: stored.map(() => ({ created, created_by: 'npm run image' })),
  })
  const manifest = put({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...described },
    layers: stored,
  })
  const named = { 'io.containerd.image.name': `docker.io/${reference}`, 'org.opencontainers.image.ref.name': reference }
  const entry = { mediaType: 'application/vnd.oci.image.manifest.v1+json', ...manifest, annotations: named }
  /** @param {string} digest */
  const path = (digest) => `blobs/sha256/${digest.slice('sha256:'.length)}`
  const files = {
    'oci-layout': { imageLayoutVersion: '1.0.0' },
    'index.json': { schemaVersion: 2, manifests: [entry] },
    'manifest.json': [
      { Config: path(described.digest), RepoTags: [reference], Layers: stored.map(({ digest }) => path(digest)) },
    ],
  }
  for (const [name, content] of Object.entries(files)) writeFileSync(join(layout, name), JSON.stringify(content))
  await packLayer(layout, file)
  return manifest.digest
}

/** @param {string} file */
async function digestOf(file) {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(file)) hash.update(piece)
  return hash.digest('hex')
}

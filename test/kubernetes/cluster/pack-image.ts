import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { lstat, mkdtemp, readdir, readFile, readlink, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { pack } from 'tar-stream'

export interface ImageParts {
  readonly name: string
  /** The root of the file system. */
  readonly folder: string
  /** The member `config` of the image: `Entrypoint`, `Cmd`, `Env`, … */
  readonly config: object
  /** Where the archive is written. */
  readonly file: string
}

/**
 * Packs a folder as an image of one layer, in the form of `docker save`, which Docker and
 * containerd load. Times, owners and order are fixed, so equal folders become equal images. Needs
 * no daemon.
 */
export async function packImage({ name, folder, config, file }: ImageParts): Promise<void> {
  const parts = await mkdtemp(`${file}-`)
  try {
    const layer = join(parts, 'layer.tar')
    await packFolder(folder, layer)
    const text = JSON.stringify({
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      os: 'linux',
      config,
      rootfs: { type: 'layers', diff_ids: [`sha256:${await digestOf(layer)}`] },
      history: [{ created_by: 'tests' }],
    })
    const configName = `${createHash('sha256').update(text).digest('hex')}.json`
    const manifest = [{ Config: configName, RepoTags: [name], Layers: ['layer.tar'] }]
    const archive = pack()
    const unfinished = join(parts, 'image.tar')
    const written = pipeline(archive, createWriteStream(unfinished))
    archive.entry({ name: 'manifest.json' }, JSON.stringify(manifest))
    archive.entry({ name: configName }, text)
    await addFile(archive, { name: 'layer.tar', mode: 0o644 }, layer)
    archive.finalize()
    await written
    await rename(unfinished, file)
  } finally {
    await rm(parts, { recursive: true, force: true })
  }
}

type Archive = ReturnType<typeof pack>

async function packFolder(folder: string, file: string): Promise<void> {
  const archive = pack()
  const written = pipeline(archive, createWriteStream(file))
  for (const name of (await readdir(folder, { recursive: true })).toSorted()) {
    const path = join(folder, name)
    const found = await lstat(path)
    const header = { name, mode: found.mode & 0o7777, mtime: new Date(0), uid: 0, gid: 0 }
    if (found.isDirectory()) archive.entry({ ...header, type: 'directory' })
    else if (found.isSymbolicLink()) archive.entry({ ...header, type: 'symlink', linkname: await readlink(path) })
    else await addFile(archive, header, path)
  }
  archive.finalize()
  await written
}

async function addFile(archive: Archive, header: { name: string; mode: number }, path: string): Promise<void> {
  const { size } = await lstat(path)
  const entry = archive.entry({ mtime: new Date(0), uid: 0, gid: 0, ...header, size })
  await pipeline(createReadStream(path), entry)
}

async function digestOf(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex')
}

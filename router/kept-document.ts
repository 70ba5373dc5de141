import { createHash } from 'node:crypto'
import { readFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { type KeptPart, keptFiles, keptPartCount, keptSlots } from '@quayside/contract/kept-parts.ts'
import { limits } from './limits.ts'
import { codeOf } from './log.ts'
import { record } from './record.ts'

/** A document that the control plane keeps in the cluster: whole, or in parts with a version. */
export type KeptDocument =
  | { readonly whole: unknown }
  | { readonly version: unknown; readonly parts: readonly unknown[] }

/**
 * Reads the document in a folder that the cluster fills. Undefined if it keeps none. Throws an
 * Error if it is damaged, or if its parts are not of one version: the cluster brings each of them
 * here on its own.
 */
export async function readKeptDocument(folder: string): Promise<KeptDocument | undefined> {
  const snapshot = await snapshotOf(folder)
  const whole = await contentOf(join(snapshot, keptFiles.whole))
  if (whole) return { whole: JSON.parse((await unpacked(whole, limits.tableBytes)).toString('utf8')) }
  const head = await contentOf(join(snapshot, keptFiles.head))
  if (!head) return undefined
  const { version, parts } = record(JSON.parse(head.toString('utf8')), 'the head')
  if (!Array.isArray(parts) || parts.length > keptPartCount) throw new Error('the parts of the head are not a list')
  const documents: unknown[] = []
  let left = limits.tableBytes
  for (const [index, part] of parts.map(partIn).entries()) {
    const text = await textOf(snapshot, { index, part, most: left })
    left -= text.length
    documents.push(JSON.parse(text.toString('utf8')))
  }
  return { version, parts: documents }
}

/** Kubernetes replaces all files of a volume at once, by this link. */
const snapshotOf = (folder: string): Promise<string> => realpath(join(folder, '..data')).catch(() => folder)

async function contentOf(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

const unpacked = (content: Buffer, most: number): Promise<Buffer> =>
  promisify(gunzip)(content, { maxOutputLength: Math.max(most, 1) })

interface Wanted {
  readonly index: number
  readonly part: KeptPart
  readonly most: number
}

async function textOf(folder: string, { index, part, most }: Wanted): Promise<Buffer> {
  const content = await contentOf(join(folder, keptFiles.part(index, part.slot)))
  if (!content) throw new Error(`part ${index} is missing`)
  const text = await unpacked(content, most)
  if (createHash('sha256').update(text).digest('base64url') !== part.digest) {
    throw new Error(`part ${index} is of another version`)
  }
  return text
}

function partIn(value: unknown, index: number): KeptPart {
  const { slot, digest } = record(value, `part ${index}`)
  const known = keptSlots.find((one) => one === slot)
  if (known === undefined || typeof digest !== 'string') throw new Error(`part ${index} has no place and digest`)
  return { slot: known, digest }
}

import { createHash, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'

/** A shorter key is a mistake. */
const shortestKey = 32

/**
 * Whether a control request has the key of a file as its bearer token. The file is read each time,
 * because a cluster replaces it when its Secret changes. Throws an Error if the file has no key.
 */
export async function hasKey({ headers }: Pick<IncomingMessage, 'headers'>, keyFile: string): Promise<boolean> {
  const key = (await readFile(keyFile, 'utf8')).trim()
  if (key.length < shortestKey) throw new Error(`${keyFile} has no key of at least ${shortestKey} characters`)
  return timingSafeEqual(digestOf(headers.authorization ?? ''), digestOf(`Bearer ${key}`))
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest()

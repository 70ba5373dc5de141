import type { SafeStream } from '../../../lib/safe-stream.ts'
import { kindOfStatus, RegistryProblem } from '../registry-problem.ts'
import { saidIn } from './answers.ts'
import type { RegistryClient } from './client.ts'
import { manifestTypes } from './manifest.ts'

/** The most bytes of a layer held in memory. */
const chunkBytes = 4 * 1024 * 1024

/** A blob to send to a registry. */
export interface OutgoingBlob {
  readonly digest: string
  readonly size: number
  /** Reads from an offset into the buffer, and returns the part of it that was filled. */
  read(from: number, into: Buffer): Promise<Buffer>
}

/**
 * The progress of an upload. It is kept between tries, so the next one continues after the bytes
 * that arrived.
 */
export interface UploadState {
  /** The address for the rest; undefined before the upload has begun. */
  location?: string | undefined
}

/**
 * Returns the size of a blob in the registry's repository; undefined if it is missing. Throws
 * RegistryProblem.
 */
export async function blobSize(
  client: RegistryClient,
  digest: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  try {
    await using answer = await client.ask({ method: 'HEAD', path: `blobs/${digest}`, signal })
    const size = Number(answer.headers['content-length'])
    return Number.isSafeInteger(size) && size > 0 ? size : undefined
  } catch (error) {
    if (error instanceof RegistryProblem && error.kind === 'absent') return undefined
    throw error
  }
}

/** Whether the repository has a manifest of this tag or digest. Throws RegistryProblem. */
export async function hasManifest(client: RegistryClient, name: string, signal: AbortSignal): Promise<boolean> {
  try {
    await using _ = await client.ask({
      method: 'HEAD',
      path: `manifests/${name}`,
      headers: { accept: manifestTypes },
      signal,
    })
    return true
  } catch (error) {
    if (error instanceof RegistryProblem && error.kind === 'absent') return false
    throw error
  }
}

/**
 * Sends a blob in chunks. `from` is a repository of the same registry that already has the blob: if
 * the registry can mount it from there, nothing is sent. Throws RegistryProblem.
 */
export async function uploadBlob(
  client: RegistryClient,
  blob: OutgoingBlob,
  {
    state,
    from,
    signal,
  }: { readonly state: UploadState; readonly from?: string | undefined; readonly signal: AbortSignal },
): Promise<'mounted' | 'sent'> {
  let sent = await sentSoFar(client, state, signal)
  if (state.location === undefined) {
    const mount = from === undefined ? '' : `?${new URLSearchParams({ mount: blob.digest, from })}`
    const path = `blobs/uploads/${mount}`
    await using begun = await expecting(client, { method: 'POST', path, body: Buffer.alloc(0), signal }, [201, 202])
    if (begun.status === 201) return 'mounted'
    state.location = locationOf(begun)
    sent = 0
  }
  // One for the whole upload: many large ones would wait for the garbage collector.
  const chunk = Buffer.alloc(Math.min(chunkBytes, blob.size))
  while (sent < blob.size) {
    const body = await blob.read(sent, chunk)
    if (body.length === 0) throw new Error(`the file of ${blob.digest} is shorter than ${blob.size} bytes`)
    const range = `${sent}-${sent + body.length - 1}`
    const headers = { 'content-type': 'application/octet-stream', 'content-range': range }
    const { location } = state
    await using taken = await expecting(client, { method: 'PATCH', path: '', location, headers, body, signal }, [202])
    state.location = locationOf(taken)
    sent += body.length
  }
  const location = withDigest(state.location, blob.digest)
  await using _ = await expecting(
    client,
    { method: 'PUT', path: '', location, body: Buffer.alloc(0), signal },
    [201, 204],
  )
  return 'sent'
}

/** Begins an upload and cancels it, to see whether one is possible. Throws RegistryProblem. */
export async function tryUpload(client: RegistryClient, signal: AbortSignal): Promise<void> {
  const question = { method: 'POST', path: 'blobs/uploads/', body: Buffer.alloc(0), signal } as const
  await using begun = await expecting(client, question, [201, 202])
  const { location } = begun.headers
  if (location === undefined) return
  // A registry that does not cancel it forgets it after some days.
  await using _ = await client.send({ method: 'DELETE', path: '', location, signal })
}

/** Puts a manifest under a tag. Throws RegistryProblem. */
export async function putManifest(
  client: RegistryClient,
  { tag, mediaType, bytes }: { readonly tag: string; readonly mediaType: string; readonly bytes: Buffer },
  signal: AbortSignal,
): Promise<void> {
  const question = {
    method: 'PUT',
    path: `manifests/${tag}`,
    headers: { 'content-type': mediaType },
    body: bytes,
  } as const
  await using _ = await expecting(client, { ...question, signal }, [201])
}

/**
 * Asks how many bytes of an upload arrived. Restarts an upload that the registry no longer knows.
 */
async function sentSoFar(client: RegistryClient, state: UploadState, signal: AbortSignal): Promise<number> {
  const { location } = state
  if (location === undefined) return 0
  state.location = undefined
  await using answer = await client.send({ path: '', location, signal })
  if (answer.status !== 204) return 0
  const last = /^(?:bytes[= ])?0-(\d+)$/.exec(answer.headers['range'] ?? '')?.[1]
  // A registry reports 0-0 both when it has nothing and when it has one byte.
  if (last === undefined || last === '0') return 0
  state.location = answer.headers['location'] ?? location
  return Number(last) + 1
}

async function expecting(
  client: RegistryClient,
  question: Parameters<RegistryClient['send']>[0],
  statuses: readonly number[],
): Promise<SafeStream> {
  const answer = await client.send(question)
  if (statuses.includes(answer.status)) return answer
  const said = await saidIn(answer)
  await answer[Symbol.asyncDispose]()
  // An upload that the registry has lost or sees differently is begun again.
  const isLost = question.location !== undefined && [404, 416].includes(answer.status)
  throw new RegistryProblem(isLost ? 'broken' : kindOfStatus(answer.status), said)
}

function locationOf({ headers }: SafeStream): string {
  const { location } = headers
  if (location === undefined) throw new RegistryProblem('other', 'it accepts an upload without a location')
  return location
}

const withDigest = (location: string, digest: string): string =>
  `${location}${location.includes('?') ? '&' : '?'}digest=${encodeURIComponent(digest)}`

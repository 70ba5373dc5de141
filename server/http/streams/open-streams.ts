import type { Socket } from 'node:net'
import type { Authorized } from '../../access/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, messageOf } from '../../lib/error.ts'
import type { Logger } from '../../lib/log.ts'
import { createSilentPeers } from './silent-peers.ts'

/** A connection over which somebody is sent what is new. */
export interface OpenStream {
  readonly socket: Socket
  /** Streams with the same key are checked together: the same credential asks for the same. */
  readonly key: string
  /** Asks anew who this is and whether he may. */
  check(): Promise<Authorized>
  /** He may; perhaps something else than before. */
  renew(authorized: Authorized): void
  /** Every ten seconds: shows both sides that the other one is there. */
  beat(): void
  /** `error`: he may not any more. Without one, it ends here but may be opened again. */
  end(error?: AppError): void
}

export interface StreamOwner {
  readonly callerId: string
  readonly organizationId: string
}

/** All open streams of this server: how many each may have, that they are still allowed, and that somebody is at their other end. */
export interface OpenStreams {
  /** Throws 429 beyond the limits. Call what it gives when the stream is closed. */
  reserve(owner: StreamOwner): () => void
  add(stream: OpenStream): void
  remove(stream: OpenStream): void
  /** Ends them all and takes no further ones; who does not take part in the end within a second is cut off. */
  close(): Promise<void>
}

export interface OpenStreamsOptions {
  readonly clock: Clock
  readonly log: Logger
  readonly limits: StreamLimits
}

export interface StreamLimits {
  readonly perCaller: number
  readonly perOrganization: number
}

/** Revoked rights end a stream within five seconds: a round, and the time that it takes. */
const checkEveryMs = 3_000
const beatEveryRounds = 3
/** A stream whose rights could not be looked at for so many rounds in a row ends. */
const mostUnchecked = 5
const graceMs = 1_000

export function createOpenStreams({ clock, log, limits }: OpenStreamsOptions): OpenStreams {
  const streams = new Set<OpenStream>()
  const counts = new Map<string, number>()
  const closing = new AbortController()
  const peers = createSilentPeers()
  let isLooking = false
  let unchecked = 0

  const count = (name: string, change: number): void => {
    const now = (counts.get(name) ?? 0) + change
    if (now === 0) counts.delete(name)
    else counts.set(name, now)
  }

  async function look(): Promise<void> {
    isLooking = true
    for (let round = 1; streams.size > 0 && !closing.signal.aborted; round++) {
      await clock.sleep(checkEveryMs, closing.signal).catch(() => {})
      if (closing.signal.aborted) break
      await checkAll()
      if (round % beatEveryRounds !== 0) continue
      await cutSilent()
      for (const stream of streams) stream.beat()
    }
    isLooking = false
  }

  async function checkAll(): Promise<void> {
    const groups = Map.groupBy(streams, ({ key }) => key)
    const failures = await Promise.all([...groups.values()].map(checkGroup))
    unchecked = failures.some((failed) => failed) ? unchecked + 1 : 0
    if (unchecked < mostUnchecked) return
    unchecked = 0
    for (const stream of [...streams]) stream.end()
  }

  /** True where it cannot be said whether they still may. */
  async function checkGroup(group: readonly OpenStream[]): Promise<boolean> {
    try {
      const authorized = await group[0]?.check()
      if (authorized) for (const stream of group) stream.renew(authorized)
      return false
    } catch (error) {
      const isRefused = error instanceof AppError && error.code !== 'unavailable'
      if (isRefused) for (const stream of group) stream.end(error)
      else log.warn({ reason: messageOf(error) }, 'the rights of open streams could not be checked')
      return !isRefused
    }
  }

  /** Those whose other end does not acknowledge what it is sent. */
  async function cutSilent(): Promise<void> {
    const isSilent = await peers.look()
    if (!isSilent) return
    for (const { socket } of [...streams]) if (isSilent(socket)) socket.destroy()
  }

  return {
    reserve({ callerId, organizationId }) {
      if (closing.signal.aborted) throw new AppError('unavailable', 'The server is being stopped; connect again.')
      const names = [`caller ${callerId}`, `organization ${organizationId}`] as const
      const most = [limits.perCaller, limits.perOrganization]
      if (names.some((name, index) => (counts.get(name) ?? 0) >= (most[index] ?? 0))) {
        const allowed = `${limits.perCaller} for a token or account, ${limits.perOrganization} for an organization`
        throw new AppError('tooManyRequests', `Too many streams are open; ${allowed}. Close others first.`)
      }
      for (const name of names) count(name, 1)
      let isHeld = true
      return () => {
        if (isHeld) for (const name of names) count(name, -1)
        isHeld = false
      }
    },
    add(stream) {
      streams.add(stream)
      if (closing.signal.aborted) stream.end()
      else if (!isLooking) void look()
    },
    remove: (stream) => void streams.delete(stream),
    async close() {
      closing.abort()
      for (const stream of [...streams]) stream.end()
      const end = clock.monotonic() + graceMs
      while (streams.size > 0 && clock.monotonic() < end) await clock.sleep(20)
      for (const { socket } of [...streams]) socket.destroy()
    },
  }
}

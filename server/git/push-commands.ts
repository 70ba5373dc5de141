import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { PushRefused } from './host-limits.ts'

/** The reference changes in the first part of a push. */
export interface PushCommands {
  readonly count: number
  /** Whether it creates and updates nothing. */
  readonly onlyDeletes: boolean
  /** Whether the client understands messages on a separate channel. */
  readonly hasSideBand: boolean
}

/**
 * Reads the list of references that a push changes, and puts it back for git. Throws PushRefused if
 * it is longer than `maxBytes`, compressed, or not of git's protocol.
 */
export async function readPushCommands(
  request: IncomingMessage,
  options: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<PushCommands> {
  if ((request.headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new PushRefused('The body of a push must not be compressed.')
  }
  const chunks: Buffer[] = []
  const list = createCommandList()
  for (let size = 0; ; ) {
    const chunk: Buffer | null = request.read()
    if (chunk === null) {
      if (request.readableEnded || request.complete) throw new PushRefused('The push ended before its list of changes.')
      await once(request, 'readable', { signal: options.signal })
      continue
    }
    chunks.push(chunk)
    size += chunk.length
    const commands = list.add(chunk)
    if (commands) {
      request.unshift(Buffer.concat(chunks, size))
      return commands
    }
    if (size > options.maxBytes) throw new PushRefused('The push changes too many references at once. Push fewer.')
  }
}

/** Parses the list of changes from pieces of any size. Reads each byte once. */
export function createCommandList(): { add(chunk: Buffer): PushCommands | undefined } {
  const found = { count: 0, onlyDeletes: true, hasSideBand: false }
  let [pieces, size, needed]: [Buffer[], number, number] = [[], 0, 4]
  const take = (line: Buffer): 'end' | undefined => {
    const length = lengthOf(line)
    if (length === 0) return 'end'
    if (line.length < length) needed = length
    else {
      note(found, line.toString('latin1', 4))
      needed = 4
    }
    return undefined
  }
  return {
    add(chunk) {
      pieces.push(chunk)
      size += chunk.length
      if (size < needed) return undefined
      let bytes = Buffer.concat(pieces, size)
      while (bytes.length >= needed) {
        const line = bytes.subarray(0, needed)
        if (take(line) === 'end') return found
        // If only the length of a line is known so far, the line is read again when it is complete.
        if (needed === 4) bytes = bytes.subarray(line.length)
      }
      pieces = [bytes]
      size = bytes.length
      return undefined
    },
  }
}

function lengthOf(line: Buffer): number {
  const digits = line.toString('latin1', 0, 4)
  const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : Number.NaN
  if (length === 0 || length > 4) return length
  throw new PushRefused('The push does not use the protocol of git.')
}

function note(found: { count: number; onlyDeletes: boolean; hasSideBand: boolean }, line: string): void {
  const [command = '', capabilities = ''] = line.split('\0', 2)
  const [, after] = command.split(' ', 2)
  found.count++
  found.onlyDeletes &&= after !== undefined && /^0+$/.test(after)
  found.hasSideBand ||= capabilities.split(' ').includes('side-band-64k')
}

/** Returns the answer that makes a git client show a message and exit. */
export function refusalPacket(message: string, { hasSideBand }: Pick<PushCommands, 'hasSideBand'>): Buffer {
  const text = Buffer.from(`${hasSideBand ? '\x03' : 'ERR '}${message}\n`)
  return Buffer.concat([Buffer.from((text.length + 4).toString(16).padStart(4, '0')), text])
}

import { Duplex } from 'node:stream'
import { EngineError, type ShellWish, type Terminal } from '../engine.ts'
import { type ContainerPlace, isKubeError, type KubeExec } from './client/index.ts'
import type { KubeHost } from './host.ts'

/** The most bytes that `exec` returns. */
const longestOutput = 64 * 1024
/** A lone byte ends the input of a command without a terminal, as on a terminal. */
const endOfInput = 4

/** Runs a command and returns its exit code and both outputs. */
export async function execIn(
  { kube }: KubeHost,
  place: ContainerPlace,
  command: readonly string[],
  signal: AbortSignal,
): Promise<{ exitCode: number; output: string }> {
  const running = await kube.exec(place, command, { hasTerminal: false, hasInput: false }, signal)
  const pieces: Buffer[] = []
  let length = 0
  const take = async (output: AsyncIterable<Buffer>): Promise<void> => {
    for await (const piece of output) {
      if (length < longestOutput) pieces.push(piece.subarray(0, longestOutput - length))
      length += piece.length
    }
  }
  await Promise.all([take(running.stdout), take(running.stderr)])
  const exitCode = await running.exitCode().catch((error: unknown) => {
    // A program that does not exist ends like one that a shell does not find.
    if (isKubeError(error, 'InternalError', 'Exec')) return 127
    throw error
  })
  return { exitCode: exitCode ?? -1, output: Buffer.concat(pieces).toString() }
}

/** Begins a command, with a terminal if a size is given. It ends when its connection does. */
export async function openTerminal(
  { kube }: KubeHost,
  place: ContainerPlace,
  { command, columns, rows }: ShellWish,
  signal: AbortSignal,
): Promise<Terminal> {
  const hasTerminal = columns > 0 && rows > 0
  const running = await kube.exec(place, command, { hasTerminal, hasInput: true }, signal)
  if (hasTerminal) await running.resize(columns, rows)
  return {
    stream: duplexOf(running, hasTerminal),
    resize: (wide, high) => (hasTerminal ? running.resize(wide, high) : Promise.resolve()),
    exitCode: () => running.exitCode().catch(() => undefined),
  }
}

/** Joins the streams of a command into one: both outputs, and the input. */
function duplexOf(running: KubeExec, hasTerminal: boolean): Duplex {
  let open = 2
  const stream = new Duplex({
    read: () => {
      running.stdout.resume()
      running.stderr.resume()
    },
    write: (bytes: Buffer, _encoding, done) => {
      const isEnd = !hasTerminal && bytes.length === 1 && bytes[0] === endOfInput
      if (isEnd) running.stdin.end(() => done())
      else running.stdin.write(bytes, done)
    },
    final: (done) => running.stdin.end(() => done()),
    destroy: (error, done) => {
      running.close()
      done(error)
    },
  })
  // The stream's end is enough for the reader.
  stream.on('error', () => {})
  for (const output of [running.stdout, running.stderr]) {
    output.on('data', (piece: Buffer) => {
      if (!stream.push(piece)) output.pause()
    })
    output.on('end', () => {
      open--
      if (open === 0) stream.push(null)
    })
    output.on('error', (error) => stream.destroy(error))
  }
  return stream
}

/**
 * Connects to a port of a pod through the API server. Returns once the program answers or has taken
 * the connection. Throws EngineError('unreachable') if nothing listens.
 */
export async function connectTo(
  { kube, clock }: KubeHost,
  { namespace, pod }: ContainerPlace,
  port: number,
  signal: AbortSignal,
): Promise<Duplex> {
  const stream = await kube.portForward({ namespace, pod }, port, signal)
  const refused = new Promise<Error>((resolve) => stream.once('error', resolve))
  const settled = new AbortController()
  const error = await Promise.race([refused, clock.sleep(refusalMs, settled.signal).catch(() => {})])
  settled.abort()
  if (!error) {
    stream.on('error', () => {})
    return stream
  }
  signal.throwIfAborted()
  throw new EngineError('unreachable', `port ${port} of the replica does not answer: ${error.message}`, {
    cause: error,
  })
}

/** The protocol reports a port on which nothing listens after the connection was made. */
const refusalMs = 250

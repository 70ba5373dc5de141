import { Readable, Writable } from 'node:stream'
import { parseForeign } from '../../../lib/foreign-json.ts'
import { type Channels, openChannels } from './channels.ts'
import type { KubeConnection } from './connection.ts'
import { KubeError } from './kube-error.ts'

/** A container of a pod. */
export interface ContainerPlace {
  readonly namespace: string
  readonly pod: string
  readonly container: string
}

/** A running command. Its streams end when it does. */
export interface KubeExec {
  readonly stdin: Writable
  readonly stdout: Readable
  /** Without content if the command has a terminal. */
  readonly stderr: Readable
  resize(columns: number, rows: number): Promise<void>
  /** Returns the exit code once the command has ended; undefined if the connection broke before. */
  exitCode(): Promise<number | undefined>
  /** Ends the connection. The command may continue: Kubernetes does not end it. */
  close(): void
}

const channel = { stdin: 0, stdout: 1, stderr: 2, status: 3, resize: 4 } as const

/** Begins a command in a container. Throws KubeError. */
export async function exec(
  connection: KubeConnection,
  { namespace, pod, container }: ContainerPlace,
  command: readonly string[],
  { hasTerminal, hasInput }: { readonly hasTerminal: boolean; readonly hasInput: boolean },
  signal: AbortSignal,
): Promise<KubeExec> {
  const query = new URLSearchParams({ container, stdout: 'true', stderr: String(!hasTerminal) })
  query.set('stdin', String(hasInput))
  query.set('tty', String(hasTerminal))
  for (const word of command) query.append('command', word)
  const path = `/api/v1/namespaces/${namespace}/pods/${pod}/exec?${query}`
  const status = Promise.withResolvers<number | undefined>()
  // The exit code is optional for callers.
  status.promise.catch(() => {})
  const channelsOf = (): Channels => channels
  const [stdout, stderr] = [outputOf(channelsOf), outputOf(channelsOf)]
  const channels = await openChannels(
    await connection.target(),
    path,
    (number, bytes) => {
      if (number === channel.stdout) stdout.take(bytes)
      else if (number === channel.stderr) stderr.take(bytes)
      else if (number === channel.status) {
        settle(status, bytes)
        channels.close()
      }
    },
    signal,
  )
  const finish = (error?: Error): void => {
    stdout.finish(error)
    stderr.finish(error)
    if (error) status.reject(error)
    else status.resolve(undefined)
  }
  channels.resume()
  channels.ended.then(() => finish(signal.aborted ? signal.reason : undefined), finish)
  return {
    stdin: inputOf(channels),
    stdout: stdout.stream,
    stderr: stderr.stream,
    resize: (Width, Height) => channels.send(channel.resize, Buffer.from(JSON.stringify({ Width, Height }))),
    exitCode: () => status.promise,
    close: () => channels.close(),
  }
}

/**
 * Reads the end of a command: `Success`, or a failure with the exit code among its causes.
 * Source: `client-go/tools/remotecommand/v4.go` of Kubernetes 1.34.
 */
function settle({ resolve, reject }: PromiseWithResolvers<number | undefined>, bytes: Buffer): void {
  try {
    const { status, reason, message, details } = Object(parseForeign(bytes))
    const causes: unknown = Object(details).causes
    const exit = Array.isArray(causes) ? causes.find((cause) => Object(cause).reason === 'ExitCode') : undefined
    if (status === 'Success') resolve(0)
    else if (exit) resolve(Number(Object(exit).message))
    else reject(new KubeError(0, String(reason ?? 'Exec'), String(message ?? 'the command could not be started')))
  } catch (cause) {
    reject(new KubeError(0, 'Exec', 'the end of the command cannot be read', { cause }))
  }
}

/** An output whose reader sets the pace: the connection pauses while it does not read. */
function outputOf(channels: () => Channels) {
  const stream = new Readable({ read: () => channels().resume() })
  // Readers get the error by reading.
  stream.on('error', () => {})
  return {
    stream,
    take: (bytes: Buffer): void => {
      if (stream.destroyed || stream.push(bytes)) return
      channels().pause()
    },
    finish: (error?: Error): void => {
      if (error) stream.destroy(error)
      else if (!stream.destroyed) stream.push(null)
    },
  }
}

const inputOf = (channels: Channels): Writable => {
  const stream = new Writable({
    write: (bytes: Buffer, _encoding, done) => void channels.send(channel.stdin, bytes).then(() => done(), done),
    final: (done) => {
      channels.end(channel.stdin)
      done()
    },
  })
  // A command that has ended takes no more input; its exit code says why.
  stream.on('error', () => {})
  return stream
}

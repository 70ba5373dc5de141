import { once } from 'node:events'
import { WebSocket } from 'ws'
import { startDeadline } from '../../../lib/deadline.ts'
import type { KubeTarget } from './connection.ts'
import { errorOfAnswer, errorOfConnection, KubeError } from './kube-error.ts'

/**
 * The newest version of the protocol that multiplexes streams over a WebSocket: the first byte of a
 * message is its channel. Kubernetes has it since 1.30; version 4 cannot end an input.
 * Source: `apimachinery/pkg/util/remotecommand/constants.go` of Kubernetes 1.34.
 */
const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
const closeChannel = 255
const openTimeoutMs = 30_000
/** With more unsent bytes, writing waits. */
const mostUnsentBytes = 1024 * 1024
const longestMessageBytes = 8 * 1024 * 1024

/** Streams of one command or port, multiplexed over a WebSocket. */
export interface Channels {
  /** Sends bytes on a channel. Returns once few bytes are unsent. */
  send(channel: number, bytes: Uint8Array): Promise<void>
  /** Ends a channel in this direction, if the server can. Otherwise the whole connection ends. */
  end(channel: number): void
  /** Stops and continues reading. Nothing is read before the first `resume`. */
  pause(): void
  resume(): void
  close(): void
  /** Fulfilled when the connection has ended; rejected if it broke. */
  readonly ended: Promise<void>
}

/** Opens such a connection. `received` gets each message. Throws KubeError. */
export async function openChannels(
  { url, headers, tls }: KubeTarget,
  path: string,
  received: (channel: number, bytes: Buffer) => void,
  signal: AbortSignal,
): Promise<Channels> {
  const { deadline, socket } = connect(url, path, { headers, ...tls }, signal)
  const ended = Promise.withResolvers<void>()
  // A caller that no longer waits for the end ignores its failure.
  ended.promise.catch(() => {})
  const abort = (): void => socket.terminate()
  signal.addEventListener('abort', abort, { once: true })
  socket.on('message', (data: Buffer) => {
    if (data.length > 0) received(data[0] ?? 0, data.subarray(1))
  })
  socket.on('close', () => {
    signal.removeEventListener('abort', abort)
    ended.resolve()
  })
  try {
    await opened(socket, deadline)
  } catch (error) {
    socket.terminate()
    signal.throwIfAborted()
    throw errorOfConnection(url.host, error)
  }
  socket.on('error', (error) => ended.reject(errorOfConnection(url.host, error)))
  return {
    ended: ended.promise,
    send: (channel, bytes) => send(socket, channel, bytes),
    end: (channel) => {
      if (socket.protocol === protocols[0]) socket.send(Buffer.from([closeChannel, channel]))
      else socket.close()
    },
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: () => socket.close(),
  }
}

function connect(url: URL, path: string, options: object, signal: AbortSignal) {
  const deadline = startDeadline(openTimeoutMs, signal).signal
  const address = `wss://${url.host}${url.pathname.replace(/\/$/, '')}${path}`
  const socket = new WebSocket(address, protocols, {
    ...options,
    perMessageDeflate: false,
    followRedirects: false,
    maxPayload: longestMessageBytes,
  })
  // Messages can arrive in the packet that opens the connection, before the caller has it.
  socket.on('open', () => socket.pause())
  // An error without a listener would end the process. Callers that wait get it as well.
  socket.on('error', () => {})
  return { deadline, socket }
}

/** Waits until the connection is open. The server's refusal is an answer of HTTP. */
function opened(socket: WebSocket, deadline: AbortSignal): Promise<unknown> {
  const refused = new Promise<never>((_, reject) => {
    socket.once('unexpected-response', (_request, answer) => {
      const pieces: Buffer[] = []
      answer.on('data', (piece: Buffer) => void (pieces.length < 64 && pieces.push(piece)))
      answer.on('error', reject)
      answer.on('end', () => reject(errorOfAnswer(answer.statusCode ?? 0, Buffer.concat(pieces).toString())))
    })
  })
  // The connection may break after it was opened; that is for `ended`.
  refused.catch(() => {})
  return Promise.race([once(socket, 'open', { signal: deadline }), refused])
}

function send(socket: WebSocket, channel: number, bytes: Uint8Array): Promise<void> {
  if (socket.readyState !== WebSocket.OPEN) {
    return Promise.reject(new KubeError(0, 'Closed', 'the connection to the pod has ended'))
  }
  const message = Buffer.concat([Buffer.from([channel]), bytes])
  return new Promise((resolve, reject) => {
    const done = (error?: Error | null): void => (error ? reject(errorOfConnection('', error)) : resolve())
    if (socket.bufferedAmount < mostUnsentBytes) {
      socket.send(message, (error) => error && done(error))
      done()
    } else socket.send(message, done)
  })
}

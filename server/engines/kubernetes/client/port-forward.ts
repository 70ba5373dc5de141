import { Duplex } from 'node:stream'
import { type Channels, openChannels } from './channels.ts'
import type { KubeConnection } from './connection.ts'
import { KubeError } from './kube-error.ts'

const channel = { data: 0, error: 1 } as const
/** Each channel begins with the number of its port. */
const prefixBytes = 2

/**
 * Connects by TCP to a port of a pod. The stream ends when the program closes the connection. Its
 * own end is not passed on: the protocol cannot close one direction. Throws KubeError; if nothing
 * listens, the stream is destroyed with one.
 */
export async function portForward(
  connection: KubeConnection,
  { namespace, pod }: { readonly namespace: string; readonly pod: string },
  port: number,
  signal: AbortSignal,
): Promise<Duplex> {
  const path = `/api/v1/namespaces/${namespace}/pods/${pod}/portforward?ports=${port}`
  const toSkip = new Map<number, number>([
    [channel.data, prefixBytes],
    [channel.error, prefixBytes],
  ])
  const stream: Duplex = new Duplex({
    read: () => channels.resume(),
    write: (bytes: Buffer, _encoding, done) => void channels.send(channel.data, bytes).then(() => done(), done),
    destroy: (error, done) => {
      channels.close()
      done(error)
    },
  })
  // Users of the stream get the error by reading. It may come before they listen.
  stream.on('error', () => {})
  const received = (number: number, bytes: Buffer): void => {
    const skipped = Math.min(toSkip.get(number) ?? 0, bytes.length)
    toSkip.set(number, (toSkip.get(number) ?? 0) - skipped)
    const rest = bytes.subarray(skipped)
    if (rest.length === 0 || stream.destroyed) return
    if (number === channel.error) stream.destroy(new KubeError(0, 'PortForward', rest.toString().trim()))
    else if (!stream.push(rest)) channels.pause()
  }
  const channels: Channels = await openChannels(await connection.target(), path, received, signal)
  channels.resume()
  channels.ended.then(
    () => void (stream.destroyed || stream.push(null)),
    (error: Error) => stream.destroy(error),
  )
  return stream
}

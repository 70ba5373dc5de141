import type { Duplex } from 'node:stream'
import { type Client, createClient } from '@connectrpc/connect'
import { createGrpcTransport, Http2SessionManager } from '@connectrpc/connect-node'
import { Control } from '../../lib/grpc/control_pb.ts'
import { frameByFrame } from './frame-by-frame.ts'

/** BuildKit's own API over one connection. */
export interface DaemonClient extends Disposable {
  readonly control: Client<typeof Control>
}

/** No report of progress is longer: BuildKit sends output in small pieces. */
const maxMessageBytes = 4 * 1024 * 1024

/** Speaks HTTP/2 over the stream, which is destroyed at the end. */
export function createDaemonClient(stream: Duplex): DaemonClient {
  // No request is sent there: the name only fills the `:authority` of requests.
  const baseUrl = 'http://buildkitd'
  let isUsed = false
  const createConnection = (): Duplex => {
    if (isUsed) throw new Error('the connection to the builder has ended')
    isUsed = true
    return frameByFrame(stream)
  }
  const sessionManager = new Http2SessionManager(baseUrl, undefined, { createConnection })
  const transport = createGrpcTransport({
    baseUrl,
    sessionManager,
    acceptCompression: [],
    readMaxBytes: maxMessageBytes,
  })
  stream.on('error', (error) => sessionManager.abort(error))
  return {
    control: createClient(Control, transport),
    [Symbol.dispose]: () => {
      sessionManager.abort()
      stream.destroy()
    },
  }
}

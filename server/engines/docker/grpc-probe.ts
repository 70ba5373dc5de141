import { connect } from 'node:http2'

/** Answers of `grpc.health.v1.Health/Check`, by their numbers. */
const servingStatus = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'] as const

/** Asks the standard gRPC health service without TLS; gives its status by name, or what else the server said. */
export async function probeGrpc(host: string, port: number, service: string, signal: AbortSignal): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const session = connect(`http://${host}:${port}`)
  const onAbort = (): void => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  session.on('error', reject)
  try {
    const stream = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    const chunks: Buffer[] = []
    let grpcStatus: unknown
    const noteStatus = (headers: Record<string, unknown>): void => {
      grpcStatus = headers['grpc-status'] ?? grpcStatus
    }
    stream.on('response', noteStatus)
    stream.on('trailers', noteStatus)
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('error', reject)
    stream.on('end', () => {
      resolve(
        String(grpcStatus ?? '0') === '0' ? readReply(Buffer.concat(chunks)) : `gRPC status ${String(grpcStatus)}`,
      )
    })
    stream.end(request(service))
    return await promise
  } finally {
    signal.removeEventListener('abort', onAbort)
    session.destroy()
  }
}

/** A frame (not compressed, length) with a message of one field: 1, the service's name. */
function request(service: string): Buffer {
  const name = Buffer.from(service).subarray(0, 127)
  const message = name.length === 0 ? Buffer.alloc(0) : Buffer.concat([Buffer.from([0x0a, name.length]), name])
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

/** Field 1 of the reply is the status; a reply without it means the status of number 0. */
function readReply(frame: Buffer): string {
  if (frame.length < 5) return 'an empty answer'
  const message = frame.subarray(5)
  const number = message[0] === 0x08 ? (message[1] ?? 0) : 0
  return servingStatus[number] ?? `status ${number}`
}

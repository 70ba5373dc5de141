import { Code, ConnectError, createClient } from '@connectrpc/connect'
import { createGrpcTransport, Http2SessionManager } from '@connectrpc/connect-node'
import { Health } from '../../lib/grpc/health_pb.ts'

/** Statuses of `grpc.health.v1.Health/Check`, by number. */
const servingStatus = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'] as const
/** The response holds one number. */
const maxAnswerBytes = 16 * 1024

/**
 * Calls the standard gRPC health service without TLS. Returns the name of its status, or a text
 * for any other response of the server.
 */
export async function probeGrpc(host: string, port: number, service: string, signal: AbortSignal): Promise<string> {
  const baseUrl = `http://${host}:${port}`
  const sessionManager = new Http2SessionManager(baseUrl)
  const transport = createGrpcTransport({
    baseUrl,
    sessionManager,
    acceptCompression: [],
    readMaxBytes: maxAnswerBytes,
  })
  try {
    const { status } = await createClient(Health, transport).check({ service }, { signal })
    return servingStatus[status] ?? `status ${status}`
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error
    // The system's error is more precise, for example when nothing listens on the port.
    if (error.cause instanceof Error) throw error.cause
    if (error.code === Code.Canceled) signal.throwIfAborted()
    return `gRPC status ${error.code}`
  } finally {
    sessionManager.abort()
  }
}

import { Code, ConnectError, createClient } from '@connectrpc/connect'
import { createGrpcTransport, Http2SessionManager } from '@connectrpc/connect-node'
import { Health } from '../../lib/grpc/health_pb.ts'

/** Answers of `grpc.health.v1.Health/Check`, by their numbers. */
const servingStatus = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'] as const
/** An answer is one number. */
const maxAnswerBytes = 16 * 1024

/**
 * Asks the standard gRPC health service without TLS. Returns its status by name, or what else the
 * server said.
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
    // The system's own error says more: that nothing listens there, for example.
    if (error.cause instanceof Error) throw error.cause
    if (error.code === Code.Canceled) signal.throwIfAborted()
    return `gRPC status ${error.code}`
  } finally {
    sessionManager.abort()
  }
}

import { fromBinary } from '@bufbuild/protobuf'
import { StatusResponseSchema } from '../../lib/grpc/status_pb.ts'

/** What BuildKit reports of its progress, as far as a log needs it. */
export interface BuildStatus {
  readonly vertices: readonly Vertex[]
  readonly logs: readonly VertexLog[]
}

/** One step of the build, reported again whenever something about it changes. */
export interface Vertex {
  readonly digest: string
  readonly name: string
  readonly cached: boolean
  readonly started: boolean
  readonly completed: boolean
  readonly error: string
}

export interface VertexLog {
  readonly vertex: string
  /** 1 is standard output, 2 standard error. */
  readonly stream: number
  readonly text: Buffer
}

/**
 * Reads a `StatusResponse`, which is base64 inside JSON. Fields of later versions are skipped.
 * Throws Error for bytes that are no such message.
 */
export function decodeStatus(base64: string): BuildStatus {
  const { vertexes, logs } = fromBinary(StatusResponseSchema, Buffer.from(base64, 'base64'), {
    readUnknownFields: false,
  })
  return {
    vertices: vertexes.map(({ digest, name, cached, started, completed, error }) => ({
      digest,
      name,
      cached,
      started: started !== undefined,
      completed: completed !== undefined,
      error,
    })),
    logs: logs.map(({ vertex, stream, msg }) => ({ vertex, stream: Number(stream) || 1, text: Buffer.from(msg) })),
  }
}

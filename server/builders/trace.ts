import { fromBinary } from '@bufbuild/protobuf'
import { type StatusResponse, StatusResponseSchema } from '../lib/grpc/status_pb.ts'

/** The part of BuildKit's progress that a log needs. */
export interface BuildStatus {
  readonly vertices: readonly Vertex[]
  readonly logs: readonly VertexLog[]
}

/** One step of the build, reported again after each change. */
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
 * Reads a `StatusResponse` from base64 in JSON. Skips fields of later versions. Throws Error for
 * bytes that are not such a message.
 */
export const decodeStatus = (base64: string): BuildStatus =>
  readStatus(fromBinary(StatusResponseSchema, Buffer.from(base64, 'base64'), { readUnknownFields: false }))

/** Returns the part of a report that a log needs. */
export const readStatus = ({ vertexes, logs }: StatusResponse): BuildStatus => ({
  vertices: vertexes.map(({ digest, name, cached, started, completed, error }) => ({
    digest,
    name,
    cached,
    started: started !== undefined,
    completed: completed !== undefined,
    error,
  })),
  logs: logs.map(({ vertex, stream, msg }) => ({ vertex, stream: stream === 2n ? 2 : 1, text: Buffer.from(msg) })),
})

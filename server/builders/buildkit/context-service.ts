import type { Readable } from 'node:stream'
import { Code, ConnectError, type ConnectRouter } from '@connectrpc/connect'
import { Upload } from '../../lib/grpc/upload_pb.ts'

const pieceBytes = 256 * 1024

/** The address under which BuildKit asks its session for the context. No host has that name. */
export const contextAddress = (session: string): string => `http://buildkit-session/${session}`

/** Sends the context of the build, a tar stream, once. */
export function serveContext(router: ConnectRouter, context: Readable): void {
  let isSent = false
  router.service(Upload, {
    async *pull() {
      if (isSent) throw new ConnectError('the context has been sent already', Code.FailedPrecondition)
      isSent = true
      for await (const bytes of context) {
        for (let at = 0; at < bytes.length; at += pieceBytes) yield { data: bytes.subarray(at, at + pieceBytes) }
      }
    },
  })
}

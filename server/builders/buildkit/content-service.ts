import { Code, ConnectError, type ConnectRouter, type HandlerContext } from '@connectrpc/connect'
import type { ImageContent, IncomingPart, ResultReceiver } from '../../engines/index.ts'
import type { Attempt } from '../../lib/attempt.ts'
import { Content, type WriteContentRequest } from '../../lib/grpc/content_pb.ts'

/** The store of base images and the store of the result, as BuildKit names them in a header. */
export const baseStore = 'base'
const stores = { base: `oci:${baseStore}`, result: 'export' } as const
const storeHeader = 'buildkit-attachable-store-id'

const action = { state: 0, write: 1, commit: 2 } as const
const pieceBytes = 1024 * 1024
/** BuildKit writes at most 8 MiB at once, in a message of little more. */
export const maxContentMessageBytes = 9 * 1024 * 1024

export interface ContentOptions {
  /** The base images of the build. Nothing else can be read. */
  readonly bases: readonly ImageContent[]
  readonly result: ResultReceiver
  readonly attempt: Attempt
  /** Ends the build: BuildKit shows only a part of an error that it gets here. */
  readonly fail: (error: unknown) => void
}

/** Lets BuildKit read the base images of a build, and write its result. */
export function serveContent(router: ConnectRouter, options: ContentOptions): void {
  const { bases, attempt, fail } = options
  const ofStore = (store: string, { requestHeader }: HandlerContext): void => {
    if (requestHeader.get(storeHeader) !== store) throw new ConnectError('no such store', Code.NotFound)
  }
  const find = (digest: string): { readonly base: ImageContent; readonly size: number } => {
    for (const base of bases) {
      const size = base.sizeOf(digest)
      if (size !== undefined) return { base, size }
    }
    throw new ConnectError('no base image of this build has that part', Code.NotFound)
  }
  /** Runs work whose failure is the reason why the build fails. */
  const must = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      if (error instanceof ConnectError) throw error
      fail(error)
      throw new ConnectError('the client has ended the build', Code.Aborted)
    }
  }
  router.service(Content, {
    info({ digest }, context) {
      ofStore(stores.base, context)
      return { info: { digest, size: BigInt(find(digest).size) } }
    },
    async *read({ digest, offset, size }, context) {
      ofStore(stores.base, context)
      const { base, size: whole } = find(digest)
      const from = Number(offset)
      const end = size > 0n ? Math.min(whole, from + Number(size)) : whole
      for (let at = from; at < end; ) {
        const into = Buffer.alloc(Math.min(pieceBytes, end - at))
        const data = await must(base.read(digest, at, into, attempt))
        if (data.length === 0) throw new ConnectError('the part is shorter than announced', Code.DataLoss)
        yield { offset: BigInt(at), data: new Uint8Array(data) }
        at += data.length
      }
    },
    async *write(requests, context) {
      ofStore(stores.result, context)
      let part: PartInProgress | undefined
      try {
        for await (const request of requests) {
          part ??= await must(begin(options, request))
          yield await must(take(part, request))
        }
      } finally {
        await part?.incoming.close()
      }
    },
  })
}

interface PartInProgress {
  readonly incoming: IncomingPart
  readonly digest: string
  readonly total: bigint
  offset: bigint
}

/** Begins a part with the first request of a stream. */
async function begin(
  { bases, result, attempt }: ContentOptions,
  { expected, total }: WriteContentRequest,
): Promise<PartInProgress> {
  const base = bases.find((one) => one.sizeOf(expected) === Number(total))
  if (base) {
    const read = (from: number, into: Buffer) => base.read(expected, from, into, attempt)
    await result.add({ digest: expected, size: Number(total), read })
    throw new ConnectError('the part is there', Code.AlreadyExists)
  }
  const incoming = await result.begin(expected, Number(total))
  if (!incoming) throw new ConnectError('the part is there', Code.AlreadyExists)
  return { incoming, digest: expected, total, offset: 0n }
}

async function take(part: PartInProgress, request: WriteContentRequest) {
  const { incoming, total, digest } = part
  // BuildKit writes from the start to the end. Nothing needs to be read in another order.
  if (request.action === action.write && request.data.length > 0) {
    if (request.offset !== part.offset) throw new ConnectError('out of order', Code.OutOfRange)
    await incoming.write(request.data)
    part.offset += BigInt(request.data.length)
  }
  if (request.action === action.commit) await incoming.commit()
  return { action: request.action, offset: part.offset, total, digest: request.action === action.commit ? digest : '' }
}

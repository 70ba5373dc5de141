import { AppError } from './error.ts'
import { inWorker, OverLimit, sharedBytes, type WorkerLimits } from './in-worker.ts'
import { type ShapeLimits, shapeOf } from './json-shape.ts'

/**
 * What is parsed on the thread of the caller at most: about 20 ms of it. The largest known answers,
 * pages of a hundred repositories of GitHub, have a sixth of these values.
 */
export const nearby: ShapeLimits = { bytes: 4 * 2 ** 20, parts: 100_000, depth: 100 }

/**
 * What a worker parses at most. The worst known values of this number, objects of one member each
 * with a name of its own, take less than 256 MiB. That matters: one large allocation beyond the
 * limit of a worker ends the whole process, and not only the worker.
 */
const farParts = 2_000_000

/** Longer texts are read in a worker, which takes longer to start than a shorter one to read. */
const nearbyBytes = 256 * 1024

/** A text that is not read. The message is the end of a sentence: `is not JSON`. */
export class ForeignJsonProblem extends Error {
  override readonly name = 'ForeignJsonProblem'
}

/** The text has a valid size, and another form. */
export class NotJson extends ForeignJsonProblem {}

/**
 * Parses JSON whose content somebody outside decides: a provider, a registry, a program of a user.
 * Looks at size, depth and number of values first, so that it takes no longer than text of these
 * limits can. Throws ForeignJsonProblem, whose message has nothing of the text.
 */
export function parseForeign(json: Uint8Array, limits: Partial<ShapeLimits> = {}): unknown {
  const { beyond } = shapeOf(json, { ...nearby, ...limits })
  if (beyond !== undefined) throw new ForeignJsonProblem(beyond)
  try {
    return JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.length).toString())
  } catch {
    // The message of the parser quotes the text, which may be secret.
    throw new NotJson('is not JSON')
  }
}

/** The same for a worker, which may take longer. Callers that copy values take fewer parts. */
export const parseFar = (json: Uint8Array, parts = farParts): unknown =>
  parseForeign(json, { bytes: json.length, parts })

/** A text, and in how much time and memory it must be read. */
export interface ForeignText {
  readonly json: Uint8Array
  readonly limits?: WorkerLimits
}

interface Given<A> {
  readonly json: Uint8Array
  readonly argument: A
}
type Outcome<R> = { readonly value: R } | { readonly problem: string }
type Task<A, R> = (given: Given<A>) => Outcome<R>

/** A task that a worker can load, because its module exports it by this name. */
export interface ForeignReader<A, R> {
  readonly module: URL
  readonly name: string
  readonly task: Task<A, R>
}

/**
 * Returns a task for a reader. `read` returns only what is needed of a text, so little that copying
 * it to the server's thread takes no time. It may throw ForeignJsonProblem, which is no error of
 * its worker.
 */
export const foreignTask =
  <A, R>(read: (json: Uint8Array, argument: A) => R): Task<A, R> =>
  ({ json, argument }) => {
    try {
      return { value: read(json, argument) }
    } catch (error) {
      if (!(error instanceof ForeignJsonProblem)) throw error
      return { problem: error.message }
    }
  }

const usual: WorkerLimits = { limitMs: 5_000, memoryMiB: 512 }

/**
 * Reads a text of any size: a short one here, a longer one in a worker. Throws ForeignJsonProblem,
 * also if it takes too much time or memory.
 */
export async function readForeign<A, R>(
  { module, name, task }: ForeignReader<A, R>,
  { json, limits = usual }: ForeignText,
  argument: A,
): Promise<R> {
  const inThread = async (): Promise<Outcome<R>> => {
    const given = { json: await sharedBytes(json), argument }
    // The worker returns what the task of that name returns.
    return (await inWorker({ module, name, argument: given }, limits).catch(problemOf)) as Outcome<R>
  }
  const outcome = json.length <= nearbyBytes ? task({ json, argument }) : await inThread()
  if ('problem' in outcome) throw new ForeignJsonProblem(outcome.problem)
  return outcome.value
}

function problemOf(cause: unknown): { readonly problem: string } {
  if (!(cause instanceof OverLimit)) throw cause
  return { problem: `takes ${cause.message} to read` }
}

/** Translates a problem of a text for a caller of the API. `what` begins the sentence. */
export const asInvalid =
  (what: string) =>
  (cause: unknown): never => {
    if (!(cause instanceof ForeignJsonProblem)) throw cause
    throw new AppError('invalid', `${what} ${cause.message}.`, { cause })
  }

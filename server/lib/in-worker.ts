import { Worker } from 'node:worker_threads'
import { AppError } from './error.ts'
import { currentOwner } from './owner.ts'
import { createSlots } from './slots.ts'

export interface WorkerLimits {
  readonly limitMs: number
  readonly memoryMiB: number
}

/**
 * A function of a module that a worker can load, and its one argument. The argument and the result
 * are copied.
 */
export interface WorkerTask {
  readonly module: URL
  readonly name: string
  readonly argument: unknown
}

/** The task exceeded its time or memory limit. */
export class OverLimit extends Error {
  override readonly name = 'OverLimit'
}

const usual: WorkerLimits = { limitMs: 5_000, memoryMiB: 256 }

/** A thread that has loaded its module, or is about to. Its end stops it. */
export interface PreparedWorker extends AsyncDisposable {
  /** Calls the function once. The limit of time begins now. */
  run(argument: unknown): Promise<unknown>
}

/**
 * The workers of owners. Each owner has one at a time, and one is kept for owners that have none.
 * Work of the platform itself is not counted: other limits bound it.
 */
const workers = createSlots(2, { reserve: 1, perOwner: 1 })
/** Every worker ends, so each waiting task has its turn. */
const patienceMs = 60_000

/**
 * Runs a function on its own thread, for libraries whose time grows faster than the text that they
 * read, so nobody else waits. Owners have turns. Throws OverLimit, any error of the function, and
 * AppError `unavailable` if there is no turn within a minute.
 */
export async function inWorker({ argument, ...task }: WorkerTask, limits: WorkerLimits = usual): Promise<unknown> {
  const owner = currentOwner()
  using _ = owner === undefined ? undefined : await takeTurn(owner)
  await using worker = prepareWorker(task, limits)
  return await worker.run(argument)
}

const takeTurn = (owner: string): Promise<Disposable> =>
  workers.take(AbortSignal.timeout(patienceMs), owner).catch((cause: unknown) => {
    throw new AppError('unavailable', 'Too much of this organization is being read. Try again in a minute.', { cause })
  })

const sliceBytes = 4 * 2 ** 20

/**
 * Copies bytes to memory that a worker reads too, in slices between which others have their turn.
 * Copying an argument of many megabytes at once would delay them.
 */
export async function sharedBytes(bytes: Uint8Array): Promise<Uint8Array> {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length))
  for (let from = 0; from < bytes.length; from += sliceBytes) {
    copy.set(bytes.subarray(from, from + sliceBytes), from)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return copy
}

/** Starts such a thread before its argument is known. */
export function prepareWorker(
  { module, name }: Omit<WorkerTask, 'argument'>,
  { limitMs, memoryMiB }: WorkerLimits = usual,
): PreparedWorker {
  const worker = new Worker(new URL('in-worker.child.ts', import.meta.url), {
    workerData: { name, module: module.href },
    resourceLimits: { maxOldGenerationSizeMb: memoryMiB },
    // The worker gets nothing of the server's environment.
    env: {},
    stdout: true,
    stderr: true,
  })
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  // Nobody may wait for it yet.
  promise.catch(() => {})
  worker.once('message', resolve)
  worker.once('error', (error) => reject(isOutOfMemory(error) ? new OverLimit(`more than ${memoryMiB} MiB`) : error))
  worker.once('exit', (code) => reject(new Error(`the worker ended with code ${code} and no result`)))
  return {
    run: (argument) => {
      const late = () => reject(new OverLimit(`more than ${limitMs / 1000} s`))
      AbortSignal.timeout(limitMs).addEventListener('abort', late, { once: true })
      worker.postMessage({ argument })
      return promise
    },
    [Symbol.asyncDispose]: async () => void (await worker.terminate()),
  }
}

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'

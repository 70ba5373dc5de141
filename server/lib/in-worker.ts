import { Worker } from 'node:worker_threads'

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
 * Runs a function on its own thread, for libraries whose time grows faster than the text that they
 * read, so nobody else waits. Throws OverLimit, and any error of the function.
 */
export async function inWorker({ argument, ...task }: WorkerTask, limits: WorkerLimits = usual): Promise<unknown> {
  await using worker = prepareWorker(task, limits)
  return await worker.run(argument)
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

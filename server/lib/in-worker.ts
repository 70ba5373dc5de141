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

/**
 * Runs a function on its own thread, for libraries whose time grows faster than the text that they
 * read, so nobody else waits. Throws OverLimit, and any error of the function.
 */
export async function inWorker(task: WorkerTask, { limitMs, memoryMiB }: WorkerLimits = usual): Promise<unknown> {
  const worker = new Worker(new URL('in-worker.child.ts', import.meta.url), {
    workerData: { ...task, module: task.module.href },
    resourceLimits: { maxOldGenerationSizeMb: memoryMiB },
    // The worker gets nothing of the server's environment.
    env: {},
    stdout: true,
    stderr: true,
  })
  const timeLimit = AbortSignal.timeout(limitMs)
  try {
    return await new Promise((resolve, reject) => {
      timeLimit.addEventListener('abort', () => reject(new OverLimit(`more than ${limitMs / 1000} s`)), { once: true })
      worker.once('message', resolve)
      worker.once('error', (error) =>
        reject(isOutOfMemory(error) ? new OverLimit(`more than ${memoryMiB} MiB`) : error),
      )
      worker.once('exit', (code) => reject(new Error(`the worker ended with code ${code} and no result`)))
    })
  } finally {
    await worker.terminate()
  }
}

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'

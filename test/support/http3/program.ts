import { createInterface } from 'node:readline'
import { start } from '../../../server/lib/run.ts'
import { until } from '../until.ts'

/** A process that answers commands. */
export interface Program {
  /** Sends a command and returns its answer. */
  ask<T>(command: string, options?: unknown): Promise<T>
  /** Ends the process. */
  readonly stop: () => Promise<void>
}

interface Report<T = unknown> {
  readonly id: number
  readonly answer: T
  readonly error?: string
}

/** Starts a program that reads commands and writes reports as lines of JSON. */
export function startProgram(file: string, args: readonly string[]): Program {
  const child = start(file, args, { stdio: 'pipe', env: { QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING: 'true' } })
  const open = new Map<number, PromiseWithResolvers<string>>()
  const printed: string[] = []
  child.stderr?.on('data', (chunk) => printed.push(String(chunk)))
  if (child.stdout) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const report: Report = JSON.parse(line)
      const waiting = open.get(report.id)
      open.delete(report.id)
      if (report.error === undefined) waiting?.resolve(line)
      else waiting?.reject(new Error(report.error))
    })
  }
  const failAll = (reason: string): void => {
    for (const waiting of open.values()) waiting.reject(new Error(reason))
    open.clear()
  }
  child.on('error', (error) => failAll(`The HTTP/3 client could not be started: ${error.message}`))
  child.on('close', () => failAll(`The HTTP/3 client has ended: ${printed.join('')}`))
  let last = 0
  return {
    ask: async <T>(command: string, options?: unknown): Promise<T> => {
      const waiting = Promise.withResolvers<string>()
      const id = ++last
      open.set(id, waiting)
      child.stdin?.write(`${JSON.stringify({ id, do: command, [command]: options })}\n`)
      const report: Report<T> = JSON.parse(await waiting.promise)
      return report.answer
    },
    stop: async () => {
      child.kill('SIGKILL')
      await until('the HTTP/3 client is gone', () => child.exitCode !== null || child.signalCode !== null)
    },
  }
}

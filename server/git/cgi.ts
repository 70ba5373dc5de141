import type { IncomingMessage, ServerResponse } from 'node:http'
import { killGroup, start } from '../lib/run.ts'

export interface CgiCall {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly program: string
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /**
   * Runs after the program has ended and before the answer ends, so that the client's next call
   * comes later.
   */
  readonly before: () => Promise<void>
  /** Kills the program. */
  readonly signal: AbortSignal
}

/** Headers of the program that are sent to the client. */
const passed = new Set(['content-type', 'content-length', 'cache-control', 'expires', 'pragma', 'www-authenticate'])
const maxHeadBytes = 16 * 1024

/**
 * Answers a request with the output of a CGI program. The body of the request is its standard
 * input, and both are streamed. Returns the exit code when the program and the answer have ended.
 * If the client leaves, the program is killed.
 */
export async function runCgi(call: CgiCall): Promise<{ readonly exitCode: number | null; readonly stderr: string }> {
  const { request, response, signal } = call
  const child = start(call.program, call.args, {
    env: call.environment,
    ...(request.method === 'POST' ? { stdin: request } : {}),
  })
  const stop = (): void => killGroup(child)
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })
  response.once('close', () => {
    if (!response.writableFinished) stop()
  })
  let stderr = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-8192)
  })
  let head: Buffer | undefined = Buffer.alloc(0)
  child.stdout?.on('data', (chunk: Buffer) => {
    if (head === undefined) return
    head = Buffer.concat([head, chunk])
    const split = splitHead(head)
    if (!split && head.length <= maxHeadBytes) return
    head = undefined
    if (!split) return stop()
    response.writeHead(split.status, split.headers)
    response.write(split.rest)
    child.stdout?.pipe(response, { end: false })
  })
  const ended = Promise.withResolvers<number | null>()
  child.once('error', ended.reject)
  child.once('close', ended.resolve)
  try {
    const exitCode = await ended.promise
    await call.before()
    return { exitCode, stderr }
  } finally {
    signal.removeEventListener('abort', stop)
    if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' })
    response.end()
    // The program ignored the rest of the body, so the connection cannot be reused.
    if (!request.complete) response.once('finish', () => request.socket.destroySoon())
  }
}

/**
 * Returns the head of a CGI answer once it is complete: `Status:`, the headers for the client, and
 * the first bytes of the body.
 */
export function splitHead(
  bytes: Buffer,
): { readonly status: number; readonly headers: Record<string, string>; readonly rest: Buffer } | undefined {
  const [mark] = ['\r\n\r\n', '\n\n'].filter((text) => bytes.includes(text))
  if (mark === undefined) return undefined
  const at = bytes.indexOf(mark)
  const headers: Record<string, string> = Object.create(null)
  let status = 200
  for (const line of bytes.toString('latin1', 0, at).split(/\r?\n/)) {
    const [name = '', value = ''] = line.split(/:\s*(.*)/s)
    if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10) || 500
    else if (passed.has(name.toLowerCase())) headers[name.toLowerCase()] = value
  }
  return { status, headers, rest: bytes.subarray(at + mark.length) }
}

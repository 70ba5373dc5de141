import { Agent, request } from 'node:http'

export interface Question {
  /** Default 127.0.0.1. */
  readonly host?: string
  readonly port: number
  readonly path: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Without an agent, the request has its own connection. */
  readonly agent?: Agent
  readonly timeoutMs?: number
}

export interface Answer {
  readonly status: number
  readonly body: string
}

export const keepAlive = (): Agent => new Agent({ keepAlive: true })

/** Sends a request and reads the whole response. Rejects if it is truncated. */
export function ask({
  host = '127.0.0.1',
  port,
  path,
  method = 'GET',
  headers = {},
  body,
  agent,
  timeoutMs = 10_000,
}: Question) {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const signal = AbortSignal.timeout(timeoutMs)
  const options = { host, port, path, method, headers, signal, agent: agent ?? false } as const
  const outgoing = request(options, (incoming) => {
    let text = ''
    incoming.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    incoming.on('error', reject)
    incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, body: text }))
    incoming.on('close', () => {
      if (!incoming.complete) reject(new Error('the response was truncated'))
    })
  })
  outgoing.on('error', reject)
  outgoing.end(body)
  return promise
}

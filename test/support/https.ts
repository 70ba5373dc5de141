import { type ClientRequest, type IncomingMessage, request as requestPlain } from 'node:http'
import { Agent, type RequestOptions, request } from 'node:https'
import { text } from 'node:stream/consumers'

export interface SecureAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

/** A client that knows one root and asks names at a port of this machine. */
export interface SecureClient {
  /** Rejects if the certificate is not valid for the name. */
  ask(name: string, options?: RequestOptions): Promise<SecureAnswer>
  close(): void
}

/** Creates a client that trusts only certificates of `root`. It keeps connections. */
export function secureClient({ port, root }: { readonly port: number; readonly root: string }): SecureClient {
  const agent = new Agent({ ca: root, keepAlive: true })
  return {
    ask: (name, options = {}) =>
      answerOf((done) =>
        request({ host: '127.0.0.1', port, servername: name, headers: { host: name }, agent, ...options }, done),
      ),
    close: () => agent.destroy(),
  }
}

/** Asks a name over plain HTTP at a port of this machine. */
export const askPlain = (port: number, name: string, path = '/'): Promise<SecureAnswer> =>
  answerOf((done) => requestPlain({ host: '127.0.0.1', port, path, headers: { host: name }, agent: false }, done))

function answerOf(begin: (done: (answer: IncomingMessage) => void) => ClientRequest): Promise<SecureAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = begin((answer) => {
      const { statusCode: status = 0, headers } = answer
      text(answer).then((body) => resolve({ status, headers, body }), reject)
    })
    outgoing.on('error', reject).end()
  })
}

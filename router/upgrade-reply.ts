import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { answerFailureRaw } from './answer-failure.ts'
import { endConnection } from './end-connection.ts'
import type { Failure } from './pages.ts'
import { responseHeaders } from './response-head.ts'

/** The answer of an endpoint, and its headers under the rules of the route. */
export interface UpgradeAnswer {
  readonly message: IncomingMessage
  /** Names and values in turn. */
  readonly headers: readonly string[]
}

/** Writes the response to a request for an upgrade, in the form of its protocol. */
export interface UpgradeReply {
  /** Tells the client that the endpoint has joined. Returns false if its answer is not valid. */
  accept(answer: UpgradeAnswer): boolean
  /** Passes on another response, then ends. Returns false if its answer is not valid. */
  decline(answer: UpgradeAnswer): boolean
  refuse(failure: Failure): void
  /** Ends the conversation after the endpoint has. The client gets what was sent before. */
  end(): void
}

/** Returns the reply to an upgrade of HTTP/1.1. `accept` is the header of the request. */
export const rawReply = (client: Duplex, accept: string | undefined): UpgradeReply => ({
  accept: ({ message, headers }) => {
    client.write(headOf(message, headers))
    return true
  },
  decline: ({ message, headers }) => {
    client.write(headOf(message, [...(responseHeaders(headers) ?? []), 'Connection', 'close']))
    message.on('error', () => client.destroy())
    message.pipe(client, { end: false })
    message.once('end', () => endConnection(client))
    client.resume()
    return true
  },
  refuse: (failure) => answerFailureRaw(client, failure, accept),
  end: () => endConnection(client),
})

function headOf(answer: IncomingMessage, headers: readonly string[]): Buffer {
  let text = `HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\n`
  for (let index = 0; index < headers.length; index += 2) text += `${headers[index]}: ${headers[index + 1]}\r\n`
  return Buffer.from(`${text}\r\n`, 'latin1')
}

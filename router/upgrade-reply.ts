import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { answerFailureRaw } from './answer-failure.ts'
import { endConnection } from './end-connection.ts'
import type { Failure } from './pages.ts'
import { responseHeaders } from './response-head.ts'

/** Writes the response to a request for an upgrade, in the form of its protocol. */
export interface UpgradeReply {
  /** Tells the client that the endpoint has joined. Returns false if its answer is not valid. */
  accept(answer: IncomingMessage): boolean
  /** Passes on another response, then ends. Returns false if its answer is not valid. */
  decline(answer: IncomingMessage): boolean
  refuse(failure: Failure): void
  /** Ends the conversation after the endpoint has. The client gets what was sent before. */
  end(): void
}

/** Returns the reply to an upgrade of HTTP/1.1. `accept` is the header of the request. */
export const rawReply = (client: Duplex, accept: string | undefined): UpgradeReply => ({
  accept: (answer) => {
    client.write(headOf(answer, answer.rawHeaders))
    return true
  },
  decline: (answer) => {
    client.write(headOf(answer, [...(responseHeaders(answer.rawHeaders) ?? []), 'Connection', 'close']))
    answer.on('error', () => client.destroy())
    answer.pipe(client, { end: false })
    answer.once('end', () => endConnection(client))
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

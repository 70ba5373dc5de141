import type { Duplex } from 'node:stream'
import type { WriteLine } from './access-lines.ts'
import type { UpgradeReply } from './upgrade-reply.ts'

/**
 * Writes the line of a request for an upgrade once it is joined or refused, or after another
 * response. Any request can ask for an upgrade, and its application may answer it as usual.
 */
export function linedReply(reply: UpgradeReply, client: Duplex, write: WriteLine): UpgradeReply {
  let status = 499
  let bytes = 0
  client.once('close', () => write(status, bytes))
  return {
    accept: (answer) => {
      const isValid = reply.accept(answer)
      if (isValid) write(101, 0)
      return isValid
    },
    decline: (answer) => {
      const isValid = reply.decline(answer)
      if (!isValid) return false
      const { message } = answer
      status = message.statusCode ?? 502
      message.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      message.once('close', () => write(status, bytes))
      return true
    },
    refuse: (failure) => {
      write(failure.status, 0)
      reply.refuse(failure)
    },
    end: () => reply.end(),
  }
}

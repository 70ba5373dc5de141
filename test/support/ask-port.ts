import { createSocket } from 'node:dgram'
import { request } from 'node:http'

/** How long an answer may take. */
const answerMs = 2_000

/**
 * Returns the body of the answer to an HTTP request at a TCP port, or the datagram that a UDP port
 * answers. Undefined if there is no answer.
 */
export const askPort = ({ protocol, ...at }: { protocol: 'TCP' | 'UDP'; host: string; port: number }) =>
  protocol === 'TCP' ? askTcp(at) : askUdp(at)

function askTcp(at: { host: string; port: number }): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const sent = request({ ...at, agent: false, timeout: answerMs }, (response) => {
    let body = ''
    response.setEncoding('utf8')
    response.on('data', (part: string) => {
      body += part
    })
    response.on('end', () => resolve(body))
    response.on('error', () => resolve(undefined))
  })
  sent.on('timeout', () => sent.destroy())
  sent.on('error', () => resolve(undefined))
  sent.on('close', () => resolve(undefined))
  sent.end()
  return promise
}

async function askUdp({ host, port }: { host: string; port: number }): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const socket = createSocket('udp4')
  const late = setTimeout(() => resolve(undefined), answerMs)
  socket.on('message', (message) => resolve(message.toString()))
  socket.on('error', () => resolve(undefined))
  socket.connect(port, host, () => socket.send('?'))
  try {
    return await promise
  } finally {
    clearTimeout(late)
    socket.close()
  }
}

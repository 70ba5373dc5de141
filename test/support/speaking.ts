import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import type { TestApplication } from './application.ts'
import type { ServerProcess } from './server-process.ts'
import { until } from './until.ts'

/** Source for a program that answers datagrams on port 8081. */
export const speaking = `
  const socket = require('node:dgram').createSocket('udp4')
  socket.on('message', (datagram, { port, address }) => socket.send('heard ' + datagram, port, address)).bind(8081)`

/** Sends datagrams until one is answered, because datagrams may be lost. */
export async function heardBy(url: URL): Promise<string> {
  const socket = createSocket('udp4')
  let heard = ''
  socket.on('message', (datagram) => {
    heard = String(datagram)
  })
  const isHeard = (): boolean => {
    socket.send('hello', Number(url.port), '127.0.0.1')
    return heard !== ''
  }
  await until('a datagram is answered', async () => isHeard(), { everyMs: 50 })
  socket.close()
  return heard
}

/** Returns the public ports of an application: TCP as the URL of a web server, and UDP. */
export async function publicUrls(server: ServerProcess, { id }: TestApplication): Promise<{ tcp: string; udp: URL }> {
  const { results } = await server.must<{ results: { url: string }[] }>('GET', `/application/${id}/link`)
  const urls = results.map(({ url }) => new URL(url))
  const at = (protocol: string): URL =>
    urls.find((url) => url.protocol === protocol) ?? assert.fail(`the application has no public port for ${protocol}`)
  return { tcp: `http://${at('tcp:').host}`, udp: at('udp:') }
}

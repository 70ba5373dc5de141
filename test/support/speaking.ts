import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import type { TestApplication } from './application.ts'
import type { ServerProcess } from './server-process.ts'
import { until } from './until.ts'

/** For the source of a program: it answers datagrams at port 8081. */
export const speaking = `
  const socket = require('node:dgram').createSocket('udp4')
  socket.on('message', (datagram, { port, address }) => socket.send('heard ' + datagram, port, address)).bind(8081)`

/** Sends until it is answered: datagrams may be lost. */
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

/**
 * Where ports of this machine lead to it: one that speaks TCP, as the address of a web server, and
 * one of UDP.
 */
export async function publicUrls(server: ServerProcess, { id }: TestApplication): Promise<{ tcp: string; udp: URL }> {
  const { results } = await server.must<{ results: { url: string }[] }>('GET', `/application/${id}/link`)
  const urls = results.map(({ url }) => new URL(url))
  const at = (protocol: string): URL =>
    urls.find((url) => url.protocol === protocol) ?? assert.fail(`there is no ${protocol}`)
  return { tcp: `http://${at('tcp:').host}`, udp: at('udp:') }
}

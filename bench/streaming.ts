import { connect, type Socket } from 'node:net'
import { WebSocket } from 'ws'
import { systemClock as clock } from '../server/lib/clock.ts'
import { absolute, atMost, type Benchmark, type Session } from './figure.ts'
import { ask, keepAlive } from './http.ts'
import { createInstallation, type Installation } from './installation.ts'
import { pssMB } from './processes.ts'
import { until } from './until.ts'

const clients = 10_000
const lines = 400

/**
 * Measures idle clients of a stream, and the time of a line from the container to a client of the
 * log.
 */
export const streaming: Benchmark = {
  figures: ['stream-clients', 'log-stream'],
  async measure(session) {
    const installation = await createInstallation(session)
    await installation.start()
    const place = await findPlace(installation)
    const delays = await measureLines(session, installation, place)
    const kilobytes = await measureClients(session, installation, place.organization)
    return [
      absolute('stream-clients', kilobytes, 'kB/client', atMost(15)),
      absolute('log-stream', percentile(delays, 0.99), 'ms p99', atMost(250)),
    ]
  },
}

/**
 * Measures the growth of the server's memory with many clients of server-sent events, half a minute
 * after the last one connected. Some connect and leave before, so that the memory for the first
 * client does not count.
 */
async function measureClients(session: Session, installation: Installation, organization: string): Promise<number> {
  const pid = await installation.serverPid()
  const head =
    `GET /organization/${organization}/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ` +
    `${await installation.token()}\r\n\r\n`
  const sockets: Socket[] = []
  session.ending.defer(async () => sockets.forEach((socket) => void socket.destroy()))
  let [ready, told] = [0, 0]
  const open = (): void => {
    const socket = connect(installation.port, '127.0.0.1', () => socket.write(head))
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      if (chunk.includes('event: ready')) ready++
      if (chunk.includes('environment.created')) told++
    })
    sockets.push(socket)
  }
  const openAll = async (count: number): Promise<void> => {
    while (sockets.length < count) {
      for (let one = 0; one < 200; one++) open()
      await until('the clients follow', () => ready === sockets.length, { limitMs: 60_000 })
    }
  }
  await openAll(1_000)
  for (const socket of sockets.splice(0)) socket.destroy()
  ready = 0
  await clock.sleep(15_000)
  const before = await pssMB(pid)
  await openAll(clients)
  await clock.sleep(30_000)
  const after = await pssMB(pid)
  const project = await installation.api('POST', `/organization/${organization}/project`, { name: 'streams' })
  const began = clock.monotonic()
  await installation.api('POST', `/project/${project.id}/environment`, { name: 'streams' })
  await until('all clients have the change', () => told === clients, { limitMs: 60_000, everyMs: 5 })
  session.say(`  all ${clients} clients had a change after ${(clock.monotonic() - began).toFixed(0)} ms`)
  return ((after - before) * 1000) / clients
}

interface Place {
  readonly organization: string
  readonly query: string
}

async function findPlace({ api }: Installation): Promise<Place> {
  const first = async (path: string) => {
    const { results } = await api('GET', path)
    const [record] = Array.isArray(results) ? results : []
    return String(record?.id)
  }
  const organization = await first('/organization')
  const cluster = await first(`/organization/${organization}/cluster`)
  const project = await first(`/organization/${organization}/project`)
  const environment = await first(`/project/${project}/environment`)
  const service = await first(`/environment/${environment}/application`)
  const query = new URLSearchParams({ organization, cluster, project, environment, service })
  return { organization, query: String(query) }
}

/**
 * Measures the milliseconds from a request to the example, which prints a line, to that line at a
 * client.
 */
async function measureLines(session: Session, installation: Installation, { query }: Place): Promise<number[]> {
  const socket = new WebSocket(`ws://127.0.0.1:${installation.port}/service/logs?${query}`, {
    headers: { authorization: `Bearer ${await installation.token()}` },
  })
  session.ending.defer(async () => socket.terminate())
  const sentAt = new Map<string, number>()
  const delays: number[] = []
  socket.on('message', (data) => {
    const name = /GET (\/line-\d+) /.exec(String(data))?.[1] ?? ''
    const at = sentAt.get(name)
    if (at !== undefined) delays.push(clock.monotonic() - at)
    sentAt.delete(name)
  })
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  const agent = keepAlive()
  for (let count = 0; count < lines; count++) {
    const path = `/line-${count}`
    sentAt.set(path, clock.monotonic())
    await ask({ port: installation.routerPort, path, headers: { host: installation.host() }, agent })
    await clock.sleep(10)
  }
  agent.destroy()
  await until('every line has arrived', () => delays.length === lines, { limitMs: 10_000 })
  session.say(`  a client has a line after ${percentile(delays, 0.5).toFixed(1)} ms (median)`)
  return delays
}

const percentile = (values: readonly number[], part: number): number =>
  values.toSorted((one, other) => one - other)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createPlatform } from '../support/platform.ts'
import { rawRequest } from '../support/raw.ts'
import { openSocket } from '../support/streams.ts'
import { until } from '../support/until.ts'

/**
 * L7: output queued for clients that do not read. The test uses a unix socket, because the kernel
 * buffers only some hundred kilobytes there and megabytes for TCP.
 */
const readers = 200
/** 256 KiB, and the chunk that was being written when they were full. */
const mostBytes = 256 * 1024 + 16 * 1024
/** The bytes that the server may hold for all clients. */
const mostKept = readers * mostBytes
/** The process may grow by as much again, for garbage. */
const mostGrowth = 2 * mostKept

const platform = await createPlatform(
  { after },
  { settings: { QUAYSIDE_STREAMS_PER_CALLER: '1000', QUAYSIDE_STREAMS_PER_ORGANIZATION: '1000' } },
)
const { a, app, database, rooms } = platform
const directory = await mkdtemp(join(tmpdir(), 'quayside-readers-'))
after(() => rm(directory, { recursive: true, force: true }))
const path = join(directory, 'api.sock')
await app.listen({ path })

setFlagsFromString('--expose-gc')
// The flag adds this function to new contexts.
const collectGarbage = runInNewContext('gc') as () => void

/**
 * Returns the bytes in use by objects and buffers. The size of the process would include garbage.
 */
function usedBytes(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** The server's ends of its connections. */
const ends = new Set<Socket>()
app.server.on('connection', (socket) => {
  ends.add(socket)
  socket.once('close', () => ends.delete(socket))
})
const longestQueue = (): number => Math.max(0, ...[...ends].map(({ writableLength }) => writableLength))

async function follow(): Promise<Socket> {
  const socket = connect({ path })
  socket.on('error', () => {})
  const headers = [`Authorization: Bearer ${a.tokens.READ}`]
  socket.write(rawRequest(`GET /organization/${a.organizationId}/stream`, headers))
  const [head] = await once(socket, 'data')
  assert.match(String(head), /^HTTP\/1\.1 200 /)
  return socket
}

test('two hundred clients that do not read are cut off with little memory each, and one that reads gets everything', async () => {
  const [reader, ...slow] = await Promise.all(Array.from({ length: readers + 1 }, follow))
  assert.ok(reader)
  let text = ''
  reader.on('data', (bytes) => (text += String(bytes)))
  for (const socket of slow) socket.pause()
  const before = usedBytes()
  let [longest, used] = [0, 0]
  const look = (): void => {
    longest = Math.max(longest, longestQueue())
  }
  for (let round = 1; round <= 40; round++) {
    await database`
      insert into state_change (organization_id, project_id, mode, type, data)
      select ${a.organizationId}, ${a.objects.projectId}, 'DEVELOPMENT', 'service.state',
        jsonb_build_object('state', repeat('x', 1000), 'round', ${round}::int) from generate_series(1, 50)`
    const isTold = (): boolean => {
      look()
      return (text.match(new RegExp(`"round":${round}\\D`, 'g')) ?? []).length === 50
    }
    await until(`the reader has the events of round ${round}`, isTold, { everyMs: 2 })
    used = Math.max(used, usedBytes())
  }
  await until('the others are cut off', () => ends.size === 1)
  assert.ok(longest > 0, 'no output was queued')
  assert.ok(longest <= mostBytes, `${longest} bytes were queued for one client`)
  assert.ok(used - before < mostKept, `${used - before} bytes more`)
  // First comes what the kernel has buffered, then the end.
  for (const socket of slow) {
    socket.resume()
    if (!socket.closed) await once(socket, 'close')
  }
  reader.destroy()
})

test('a WebSocket that does not read gets a bounded amount and continues where it was once it reads', async () => {
  await until('the previous connections have ended', () => ends.size === 0)
  const { environmentId, projectId, applicationId } = a.objects
  const query = new URLSearchParams({
    organization: a.organizationId,
    cluster: a.clusterId,
    project: projectId,
    environment: environmentId,
    service: applicationId,
  })
  const clients = Array.from({ length: 10 }, () =>
    openSocket(`ws+unix:${path}:`, `/service/logs?${query}`, { token: a.tokens.READ }),
  )
  await Promise.all(clients.map(({ socket }) => once(socket, 'open')))
  for (const { socket } of clients) socket.pause()
  const before = process.memoryUsage().rss
  const lines = Array.from({ length: 2_000 }, (_, number) => ({
    ...{ at: '2026-01-01T00:00:00.000Z', replica: 'one', release: 'r1', stream: 'stdout' },
    text: `${number} ${'x'.repeat(1_000)}`,
  }))
  await rooms.lines.append(`service/${applicationId}`, lines)
  const isFull = ({ writableLength }: Socket): boolean => writableLength > 256 * 1024
  await until('all queues are full', () => ends.size === 10 && [...ends].every(isFull))
  // The server has nothing left to do, so more lines must not change anything.
  await rooms.lines.append(`service/${applicationId}`, [{ ...lines[0], text: 'the last one' }])
  await new Promise(setImmediate)
  assert.ok(longestQueue() <= mostBytes, `${longestQueue()} bytes were queued for one client`)
  assert.ok(process.memoryUsage().rss - before < mostGrowth)
  for (const { socket } of clients) socket.resume()
  for (const { messages, socket } of clients) {
    await until('the last line', () => String(Object(messages.at(-1)).message) === 'the last one')
    assert.deepEqual(
      messages.map((message) => Number.parseInt(String(Object(message).message), 10)),
      [...lines.keys(), Number.NaN],
    )
    socket.close()
  }
})

test('a WebSocket that sends pings and does not read is cut off before many pongs are queued', async () => {
  await until('the previous connections have ended', () => ends.size === 0)
  const query = new URLSearchParams({ organization: a.organizationId, cluster: a.clusterId })
  const { socket } = openSocket(`ws+unix:${path}:`, `/cluster/nodes?${query}`, { token: a.tokens.READ })
  await once(socket, 'open')
  socket.pause()
  const payload = Buffer.alloc(125)
  await until('the server has cut it off', async () => {
    for (let sent = 0; sent < 1_000; sent++) socket.ping(payload, true, () => {})
    await new Promise(setImmediate)
    assert.ok(longestQueue() <= mostBytes, `${longestQueue()} bytes of pongs were queued`)
    return ends.size === 0
  })
  socket.terminate()
})

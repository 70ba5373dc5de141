import assert from 'node:assert/strict'
import { connect, Socket } from 'node:net'
import { after, test } from 'node:test'
import { systemClock } from '../../server/lib/clock.ts'
import { run } from '../../server/lib/run.ts'
import { createPlatform } from '../support/platform.ts'
import { seeded } from '../support/seed.ts'
import { openSocket } from '../support/streams.ts'
import { now, until } from '../support/until.ts'

// Clients of streams vanish silently, as in a network failure, and reconnect all at once. Needs
// root and iptables.

const clients = 5_000
const sockets = 50
const many = '1000000'
const platform = await createPlatform(
  { after },
  {
    settings: {
      QUAYSIDE_STREAMS_PER_CALLER: many,
      QUAYSIDE_STREAMS_PER_ORGANIZATION: many,
      // All clients have one address.
      QUAYSIDE_ROUTER_CONNECTIONS: many,
      QUAYSIDE_ROUTER_CONNECTIONS_PER_CLIENT: many,
    },
  },
)
const { a, app, database } = platform
const origin = await platform.listen()
const port = new URL(origin).port
const token = a.tokens.READ

const firewall = async (action: '-I' | '-D'): Promise<void> => {
  for (const side of ['--sport', '--dport']) {
    const rule = ['-w', action, 'INPUT', '-i', 'lo', '-p', 'tcp', side, port, '-j', 'DROP']
    const { exitCode, stderr } = await run('iptables', rule, { timeoutMs: 10_000 })
    if (exitCode !== 0) throw new Error(`iptables: ${stderr}; install it, and run this as root`)
  }
}
const pauses = seeded({ diagnostic: (message) => void process.stdout.write(`# ${message}\n`) })
let isSilent = false
const silence = async (): Promise<void> => {
  isSilent = true
  await firewall('-I')
}
const speak = async (): Promise<void> => {
  if (isSilent) await firewall('-D')
  isSilent = false
}
after(speak)

const connections = (): Promise<number> =>
  new Promise((resolve, reject) =>
    app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  )

interface Client {
  socket: Socket
  text: string
}

/**
 * Connects all clients at once. A client that is rejected reconnects after its own pause, as
 * clients of server-sent events do.
 */
async function open(lastId?: string): Promise<Client[]> {
  const coming = lastId === undefined ? '' : `Last-Event-ID: ${lastId}\r\n`
  const head =
    `GET /organization/${a.organizationId}/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ` +
    `${token}\r\n${coming}\r\n`
  const isIn = ({ text }: Client): boolean => text.includes('event: ready')
  const enter = (client: Client): void => {
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(head))
    Object.assign(client, { socket, text: '' })
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      client.text += chunk
    })
    socket.once('close', () => {
      if (!isIn(client)) void systemClock.sleep(500 + pauses.below(4_500)).then(() => enter(client))
    })
  }
  const opened = Array.from({ length: clients }, () => {
    const client: Client = { socket: new Socket(), text: '' }
    enter(client)
    return client
  })
  const seen = (): number => opened.filter(isIn).length
  await until('all follow', () => seen() === clients, { limitMs: 400_000, everyMs: 100, seen })
  return opened
}

test('the resources of vanished clients are free within a minute, and returning clients miss nothing', {
  timeout: 1_200_000,
}, async (t) => {
  const first = await open()
  const query = new URLSearchParams({ organization: a.organizationId, cluster: a.clusterId })
  const others = Array.from({ length: sockets }, () => openSocket(origin, `/cluster/nodes?${query}`, { token }))
  await until('all sockets', () => others.every(({ messages }) => messages.length === 1))
  assert.equal(await connections(), clients + sockets)
  const lastId = /^id: (\d+)$/m.exec(first[0]?.text ?? '')?.[1]
  await silence()
  for (const { socket } of first) socket.destroy()
  for (const { socket } of others) socket.terminate()
  const began = now()
  await until('nobody is connected', async () => (await connections()) === 0, { limitMs: 60_000, everyMs: 500 })
  t.diagnostic(`free after ${((now() - began) / 1000).toFixed(0)} s`)
  await speak()
  await database`update service set state = 'BUILDING' where id = ${a.objects.applicationId}`
  const answered: number[] = []
  let isOver = false
  const asking = (async () => {
    while (!isOver) {
      const asked = now()
      assert.equal((await platform.call(token, 'GET', `/organization/${a.organizationId}`)).status, 200)
      answered.push(now() - asked)
    }
  })()
  const second = await open(lastId)
  const told = (text: string): number => text.split('event: service.state').length - 1
  await until('all clients have received the missed events', () => second.every(({ text }) => told(text) === 1), {
    limitMs: 120_000,
  })
  isOver = true
  await asking
  const slowest = answered.toSorted((one, other) => other - one)[Math.floor(answered.length / 100)]
  t.diagnostic(`${answered.length} requests meanwhile, p99 ${slowest?.toFixed(0)} ms`)
  for (const { socket } of second) socket.destroy()
})

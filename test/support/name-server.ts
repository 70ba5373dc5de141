import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { findFreePort } from './free-port.ts'

/**
 * The records of a name. A name that begins with `*.` stands for every name with one more label and
 * no records of its own.
 */
export interface Zone {
  CNAME?: string
  A?: string
  TXT?: string[]
  /** The server never answers. */
  silent?: boolean
}

export interface NameServer {
  /** `address:port` */
  readonly address: string
  readonly zones: Map<string, Zone>
  /** The names of all questions, in lower case. */
  readonly asked: string[]
}

const types = { 1: 'A', 5: 'CNAME', 16: 'TXT' } as const

/**
 * Starts a DNS server on the loopback device that answers over UDP and TCP from a map. It stops
 * when the test ends.
 */
export async function startNameServer(t: { after(work: () => unknown): void }): Promise<NameServer> {
  const socket = createSocket('udp4')
  const zones = new Map<string, Zone>()
  const asked: string[] = []
  const zoneOf = (name: string): Zone | undefined => zones.get(name) ?? zones.get(`*${name.slice(name.indexOf('.'))}`)
  const answerTo = (message: Buffer): Buffer | undefined => {
    const { name, type, end } = readQuestion(message)
    asked.push(name)
    const zone = zoneOf(name)
    if (zone?.silent) return undefined
    const target = type === 5 || zone?.CNAME === undefined ? undefined : zoneOf(zone.CNAME)
    const led = target && zone?.CNAME !== undefined ? recordsOf(zone.CNAME, target, type) : []
    return answer(message.subarray(0, end), zone && [...recordsOf(undefined, zone, type), ...led], zone === undefined)
  }
  socket.on('message', (message, from) => {
    const reply = answerTo(message)
    if (reply) socket.send(reply, from.port, from.address)
  })
  // One port for both: a port that the system selects for UDP may be in use over TCP.
  const port = await findFreePort()
  socket.bind(port, '127.0.0.1')
  await once(socket, 'listening')
  const server = createServer((client) => answerOverTcp(client, answerTo))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    socket.close()
    server.close()
  })
  return { address: `127.0.0.1:${port}`, zones, asked }
}

/** Answers questions that begin with their length in two bytes. */
function answerOverTcp(client: Socket, answerTo: (message: Buffer) => Buffer | undefined): void {
  let received = Buffer.alloc(0)
  client.on('error', () => client.destroy())
  client.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    for (;;) {
      const end = received.length < 2 ? Infinity : 2 + received.readUInt16BE(0)
      if (received.length < end) return
      const reply = answerTo(received.subarray(2, end))
      received = received.subarray(end)
      if (reply) client.write(Buffer.concat([Buffer.from([reply.length >> 8, reply.length & 255]), reply]))
    }
  })
}

function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let size = message.readUInt8(at); size > 0; size = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + size))
    at += size + 1
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 }
}

/** A record of an answer. Without a name, it is of the name that was asked for. */
interface AnsweredRecord {
  readonly name: string | undefined
  readonly type: number
  readonly data: Buffer
}

/**
 * Returns the records of a name. A CNAME record answers every question. The records to which it
 * leads follow it.
 */
function recordsOf(name: string | undefined, zone: Zone, type: number): AnsweredRecord[] {
  if (zone.CNAME !== undefined) return [{ name, type: 5, data: encodeName(zone.CNAME) }]
  const wanted = Object.entries(types).find(([number]) => Number(number) === type)?.[1]
  if (wanted === 'A' && zone.A !== undefined) {
    return [{ name, type: 1, data: Buffer.from(zone.A.split('.').map(Number)) }]
  }
  if (wanted === 'TXT') return (zone.TXT ?? []).map((text) => ({ name, type: 16, data: encodeText(text) }))
  return []
}

const encodeName = (name: string): Buffer =>
  Buffer.concat([...name.split('.').map((label) => sized(label)), Buffer.from([0])])
const encodeText = (text: string): Buffer =>
  Buffer.concat((text.match(/.{1,255}/gs) ?? ['']).map((chunk) => sized(chunk)))
const sized = (text: string): Buffer => Buffer.concat([Buffer.from([text.length]), Buffer.from(text, 'latin1')])

function answer(question: Buffer, records: readonly AnsweredRecord[] | undefined, isUnknown: boolean): Buffer {
  const header = Buffer.from(question.subarray(0, 12))
  header.writeUInt16BE(isUnknown ? 0x8183 : 0x8180, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(records?.length ?? 0, 6)
  header.writeUInt32BE(0, 8)
  const answers = (records ?? []).map(({ name, type, data }) => {
    const owner = name === undefined ? Buffer.from([0xc0, 0x0c]) : encodeName(name)
    const fixed = Buffer.alloc(10)
    fixed.writeUInt16BE(type, 0)
    fixed.writeUInt16BE(1, 2)
    fixed.writeUInt32BE(0, 4)
    fixed.writeUInt16BE(data.length, 8)
    return Buffer.concat([owner, fixed, data])
  })
  return Buffer.concat([header, question.subarray(12), ...answers])
}

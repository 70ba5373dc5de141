import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { makeWeb, type TestApplication } from '../support/application.ts'
import { limitMemory, whyNoMemoryLimit } from '../support/memory-limit.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'

// A server that may take so much memory and no more, and senders that would make it take more.

const skip = (await whyNoMemoryLimit()) ?? false
const mebi = 1024 * 1024
let server: ServerProcess
let application: TestApplication

before(async () => {
  if (skip) return
  server = await startServer()
  application = await makeWeb(server)
  await application.run(web('first'))
})
after(async () => {
  await application?.git.remove()
  await server?.close()
})

/** One that sends nearly all of a large body, and then nothing more. */
interface Sender {
  readonly socket: Socket
  answer: string
  isSent: boolean
}

const announced = 256 * 1024
const sent = Buffer.alloc(announced - 1024, ' ')

function send(port: number): Sender {
  const socket = connect(port, '127.0.0.1')
  const sender: Sender = { socket, answer: '', isSent: false }
  socket.setEncoding('utf8').on('data', (text) => {
    sender.answer += text
  })
  // Refused in the middle of it: that is an end, too.
  socket
    .on('error', () => {})
    .on('close', () => {
      sender.isSent = true
    })
  const path = `/application/${application.id}/environmentVariable`
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${announced}\r\n\r\n`
  socket.write(head)
  socket.write(sent, () => {
    sender.isSent = true
  })
  return sender
}

test('a server with little memory refuses what does not fit, and loses nothing of the rest', { skip }, async () => {
  const variables = `/application/${application.id}/environmentVariable`
  const write = (key: string, bytes: number) => server.api('POST', variables, { key, value: 'x'.repeat(bytes) })
  const port = Number(new URL(server.apiUrl).port)
  const limit = await limitMemory(server.pid(), 384 * mebi)
  const senders: Sender[] = []
  try {
    // Twice as much as it may take.
    for (let n = 0; n < 3000; n++) senders.push(send(port))
    await until('all is sent or refused', () => senders.every(({ isSent }) => isSent))
    const refused = senders.filter(({ answer }) => answer.startsWith('HTTP/1.1 503'))
    assert.ok(refused.length > 100, `${refused.length} were told to come again`)
    for (const { answer } of refused) {
      assert.match(answer, /retry-after: 1/i)
      assert.match(answer, /Too many large bodies/)
    }
    for (let n = 0; n < 20; n++) assert.equal((await write(`SMALL_${n}`, 100)).status, 201)
    assert.equal((await write('LARGE', 20_000)).status, 503)
    assert.deepEqual(await application.answer(), { status: 200, body: 'first' })
    assert.ok((await limit.peak()) < 384 * mebi, 'it took all')
  } finally {
    for (const { socket } of senders) socket.destroy()
    await limit.remove()
  }
  await until('large bodies are taken again', async () => (await write('LARGE', 20_000)).status === 201)
  const { results } = await server.must<{ results: { key: string }[] }>('GET', variables)
  assert.equal(results.filter(({ key }) => /^(SMALL|LARGE)/.test(key)).length, 21)
  await application.run(web('after little memory'))
})

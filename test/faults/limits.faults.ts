import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { run } from '../../server/lib/run.ts'
import { makeWeb, type TestApplication } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { get } from '../support/traffic.ts'
import { web } from '../support/trees.ts'
import { now, until } from '../support/until.ts'

// Too few descriptors, and a process that stood still: requests are shed, nothing is lost, and it heals alone.

let server: ServerProcess
let application: TestApplication
let pid: number

before(async () => {
  server = await startServer()
  application = await makeWeb(server)
  await application.run(web('first'))
  pid = server.pid()
})
after(async () => {
  await application?.git.remove()
  await server?.close()
})

const origin = (): string => server.apiUrl.replace('localhost', '127.0.0.1')

/** Whether a new connection is answered well within a second. */
async function answers(path: string): Promise<boolean> {
  const agent = new Agent({ keepAlive: false })
  const limit = new AbortController()
  const answered = get(`${origin()}${path}`, agent).then(
    ({ status }) => status === 200,
    () => false,
  )
  const isLate = clock.sleep(1000, limit.signal).then(
    () => false,
    () => false,
  )
  try {
    return await Promise.race([answered, isLate])
  } finally {
    limit.abort()
    agent.destroy()
  }
}

test('a server without descriptors keeps what runs, and works again once it has some', async () => {
  const { port } = new URL(server.apiUrl)
  const prlimit = async (...args: readonly string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await run('prlimit', ['--pid', String(pid), ...args], { timeoutMs: 10_000 })
    assert.equal(exitCode, 0, String(stderr))
    return String(stdout).trim()
  }
  const usual = await prlimit('--nofile', '--output=SOFT', '--noheadings')
  const sockets: Socket[] = []
  try {
    // The soft limit alone: a hard one that was lowered could not be raised again everywhere.
    await prlimit('--nofile=128:')
    for (let n = 0; n < 300; n++) sockets.push(connect(Number(port), '127.0.0.1').on('error', () => {}))
    await until('new connections are refused or stand still', async () => !(await answers('/health/live')))
    assert.deepEqual(await application.answer(), { status: 200, body: 'first' })
  } finally {
    for (const socket of sockets) socket.destroy()
    await prlimit(`--nofile=${usual}:`)
  }
  await until('it answers again', () => answers('/health/ready'))
  await application.run(web('after few descriptors'))
  assert.equal(server.pid(), pid, 'the process was restarted')
})

test('a server that stood still for five seconds goes on where it was', async () => {
  await application.ship(web('after a standstill', { buildMs: 1000 }))
  await application.reaches(['BUILDING', 'DEPLOYING'])
  server.pause()
  const began = now()
  await until('five seconds are over', () => now() - began > 5000)
  assert.deepEqual((await application.answer()).status, 200)
  server.resume()
  const { state, reason } = await application.settles()
  assert.deepEqual({ state, reason }, { state: 'RUNNING', reason: null })
  assert.deepEqual(await application.answer(), { status: 200, body: 'after a standstill' })
})

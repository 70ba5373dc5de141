import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { run } from '../../server/lib/run.ts'
import { makeWeb, type TestApplication } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
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

test('a server without descriptors keeps what runs, and works again once it has some', async () => {
  const { port } = new URL(server.apiUrl)
  const prlimit = async (...args: readonly string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await run('prlimit', ['--pid', String(pid), ...args], { timeoutMs: 10_000 })
    assert.equal(exitCode, 0, String(stderr))
    return String(stdout).trim()
  }
  const usual = await prlimit('--nofile', '--output=SOFT', '--noheadings')
  // The soft limit alone: a hard one that was lowered could not be raised again everywhere.
  await prlimit('--nofile=128:')
  const sockets: Socket[] = []
  for (let n = 0; n < 300; n++) sockets.push(connect(Number(port), '127.0.0.1').on('error', () => {}))
  await until('connections are refused or stand still', async () => {
    const began = now()
    const answer = await fetch(`${origin()}/health/live`, { signal: AbortSignal.timeout(1000) }).catch(() => undefined)
    return answer === undefined || now() - began > 900
  })
  assert.deepEqual(await application.answer(), { status: 200, body: 'first' })
  for (const socket of sockets) socket.destroy()
  await prlimit(`--nofile=${usual}:`)
  await until('it answers again', async () =>
    fetch(`${origin()}/health/ready`, { signal: AbortSignal.timeout(1000) }).then(
      ({ status }) => status === 200,
      () => false,
    ),
  )
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

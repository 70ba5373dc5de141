import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { describe, it } from 'node:test'
import { silent } from '../../lib/attempt.ts'
import { systemClock } from '../../lib/clock.ts'
import { createContainer } from './containers.ts'
import { DaemonRefusal, DockerDaemon } from './daemon.ts'
import { pretend } from './test-daemon.ts'

const limit = (): AbortSignal => AbortSignal.timeout(60_000)

const get = (daemon: DockerDaemon, signal = limit(), timeoutMs = 200) =>
  daemon.json({ method: 'GET', path: '/x', signal, timeoutMs })

describe('the connection to the Docker daemon', () => {
  it('is unreachable without a daemon', async () => {
    const daemon = new DockerDaemon({ socketPath: '/nonexistent/docker.sock', clock: systemClock })
    await assert.rejects(get(daemon), { name: 'EngineError', reason: 'unreachable' })
  })

  const faults: Record<string, RequestListener> = {
    'hangs before its answer': () => {},
    'hangs in the middle of its answer': (_request, response) => void response.writeHead(200).write('{"a":'),
    'breaks off in the middle': (_request, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('{"a":')
      response.socket?.end()
    },
    'answers garbage': (_request, response) => void response.end('<html>'),
    'cuts the line': (request) => void request.socket.destroy(),
    'speaks no HTTP': (request) => void request.socket.end('SSH-2.0\r\n'),
  }
  for (const [fault, listener] of Object.entries(faults)) {
    it(`is unreachable when the daemon ${fault}`, () =>
      pretend(listener, (daemon) => assert.rejects(get(daemon), { name: 'EngineError', reason: 'unreachable' })))
  }

  it('reports the daemon’s own message when the daemon rejects a request', () =>
    pretend(
      (_request, response) => void response.writeHead(409).end('{"message":"name is taken"}'),
      (daemon) =>
        assert.rejects(
          get(daemon, limit(), 10_000),
          (error) => error instanceof DaemonRefusal && error.status === 409 && error.message === 'name is taken',
        ),
    ))

  it('reports the caller’s own reason when the caller cancels', () =>
    pretend(
      () => {},
      async (daemon) => {
        const cancel = new AbortController()
        const waiting = assert.rejects(get(daemon, cancel.signal, 10_000), (error) => error === 'canceled')
        cancel.abort('canceled')
        await waiting
        await assert.rejects(get(daemon, cancel.signal), (error) => error === 'canceled')
      },
    ))

  it('ends a stream that does not begin', () =>
    pretend(
      () => {},
      (daemon) =>
        assert.rejects(daemon.stream({ method: 'GET', path: '/events', signal: limit(), timeoutMs: 100 }), {
          reason: 'unreachable',
        }),
    ))

  it('looks for the container before it creates a second one, whatever the first response was', async () => {
    const answers = [
      (create: boolean) => (create ? [500, '{"message":"no space left"}'] : [404, '{}']),
      (create: boolean) => (create ? [201, 'garb'] : [404, '{}']),
      (create: boolean) => (create ? [409, '{"message":"in use"}'] : [200, JSON.stringify(there)]),
    ] as const
    const there = {
      Id: 'abc',
      Name: '/n',
      RestartCount: 0,
      State: { Status: 'created', ExitCode: 0, OOMKilled: false, Pid: 0, StartedAt: '' },
      Config: { Labels: { 'quayside.release': 'r' } },
      HostConfig: {},
      NetworkSettings: { Networks: {} },
    }
    let creates = 0
    await pretend(
      (request, response) => {
        const isCreate = request.method === 'POST'
        const [status, text] = answers[Math.min(isCreate ? creates++ : creates - 1, 2)]?.(isCreate) ?? [500, '']
        response.writeHead(Number(status)).end(text)
      },
      async (daemon) => {
        const create = { name: 'n', spec: { Labels: { 'quayside.release': 'r' } }, output: silent }
        assert.equal(await daemon.patiently(limit(), () => createContainer(daemon, create, limit())), 'abc')
        assert.equal(creates, 3)
      },
    )
  })

  it('passes the daemon’s warnings on', async () => {
    const lines: string[] = []
    await pretend(
      (_request, response) => void response.writeHead(201).end('{"Id":"abc","Warnings":["swap is not limited"]}'),
      async (daemon) => {
        await createContainer(
          daemon,
          { name: 'n', spec: {}, output: { line: (text, level) => lines.push(`${level} ${text}`) } },
          limit(),
        )
      },
    )
    assert.deepEqual(lines, ['warning Docker: swap is not limited'])
  })
})

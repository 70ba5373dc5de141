import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, createServer, type RequestListener, request, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RouteEndpoint } from '@quayside/contract/routes.ts'
import { frontFiles } from '../../../router/front/front-files.ts'
import { retireOthers } from '../../../router/front/retire-others.ts'
import { until } from '../../../test/support/until.ts'
import { findRouter } from './find-router.ts'
import { ensureRouterProcess, type RouterProcess, type RouterProcessOptions } from './router-process.ts'

/** A router process in its own folder, for tests. `close` ends it. */
export interface RouterHome {
  readonly options: RouterProcessOptions
  readonly process: RouterProcess
  close(): Promise<void>
}

/** With port 0 the first process takes a free port, which `options` then hold. */
export async function routerHome(more: Pick<RouterProcessOptions, 'haproxy'> = {}): Promise<RouterHome> {
  const folder = await mkdtemp(join(tmpdir(), 'quayside-router-'))
  const options = {
    host: '127.0.0.1',
    port: 0,
    controlSocket: join(folder, 'run', 'router.sock'),
    stateFile: join(folder, 'data', 'routes.json'),
    logFile: join(folder, 'logs', 'router.log'),
    cacheFolder: join(folder, 'cache'),
    ...more,
  }
  const process = await ensureRouterProcess(options)
  const close = async (): Promise<void> => {
    // A router that is killed while HAProxy starts would leave it.
    if (more.haproxy !== undefined) {
      await until('HAProxy runs, or no router', async () => {
        const found = await findRouter(options)
        return !found || found.haproxyPid !== undefined
      })
    }
    const running = await findRouter(options)
    if (running) await endProcess(running.pid)
    if (typeof running?.haproxyPid === 'number') await endProcess(running.haproxyPid)
    // Also one that the router had begun to start.
    await retireOthers(frontFiles(options.controlSocket), undefined)
    await rm(folder, { recursive: true, force: true })
  }
  return { options: { ...options, port: process.port }, process, close }
}

/** Kills a process and waits until it is gone. */
export async function endProcess(pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL')
  await until(`process ${pid} is gone`, () => !isAlive(pid))
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

export async function application(listener: RequestListener): Promise<{ server: Server; endpoint: RouteEndpoint }> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const bound = server.address()
  assert.ok(typeof bound === 'object' && bound)
  return { server, endpoint: { address: '127.0.0.1', port: bound.port } }
}

/** Requests `/` of a host from the router. */
export function ask(
  port: number,
  host: string,
  agent = new Agent(),
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, agent, headers: { host, ...headers } }, (answer) => {
      let body = ''
      answer.setEncoding('utf8')
      answer.on('data', (text: string) => {
        body += text
      })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }))
      answer.on('error', reject)
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}

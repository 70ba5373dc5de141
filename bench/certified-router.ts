import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureRouterProcess, type RouterProcessOptions } from '../server/routers/index.ts'
import { findRouter } from '../server/routers/own/find-router.ts'
import type { TlsSource } from '../server/routers/tls-source.ts'
import { findFreePort } from '../test/support/free-port.ts'
import { certifiedHosts } from './certified.ts'
import type { Session } from './figure.ts'
import { killProcess } from './processes.ts'
import { until } from './until.ts'

/** A router process with the certificates of all hosts of `certified.ts`. */
export interface CertifiedRouter {
  readonly process: RouterProcessOptions & { readonly tls: { readonly port: number } }
  readonly pid: number
  readonly source: TlsSource
}

/** Starts such a router with an empty table. It ends with the session. */
export async function startCertified(session: Session, haproxy?: string): Promise<CertifiedRouter> {
  const folder = await mkdtemp(join(tmpdir(), 'quayside-bench-certified-'))
  session.ending.defer(() => rm(folder, { recursive: true, force: true }))
  const source = await certifiedHosts()
  const process = {
    host: '127.0.0.1',
    port: await findFreePort(),
    controlSocket: join(folder, 'control.sock'),
    stateFile: join(folder, 'routes.json'),
    logFile: join(folder, 'router.log'),
    tls: { port: await findFreePort(), source },
    ...(haproxy !== undefined && { haproxy }),
  }
  return { process, source, pid: await startAgain(session, process) }
}

/** Starts the process of a router. It ends with the session. */
export async function startAgain(session: Session, process: RouterProcessOptions): Promise<number> {
  const { pid } = await ensureRouterProcess(process)
  session.ending.defer(() => killProcess(pid))
  return pid
}

/** Waits until HAProxy serves, and returns its process. It ends with the session. */
export async function haproxyOf(session: Session, process: RouterProcessOptions): Promise<number> {
  const pid = await until(
    'HAProxy serves',
    async () => {
      const found = (await findRouter(process))?.haproxyPid
      return typeof found === 'number' && found
    },
    { limitMs: 120_000 },
  )
  session.ending.defer(() => killProcess(pid))
  return pid
}

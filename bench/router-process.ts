import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { frontFiles } from '../router/front/front-files.ts'
import { ensureRouterProcess, type RouterProcessOptions } from '../server/routers/index.ts'
import { findRouter } from '../server/routers/own/find-router.ts'
import type { TlsSource } from '../server/routers/tls-source.ts'
import { findFreePort } from '../test/support/free-port.ts'
import { haproxy, missingHaproxy } from '../test/support/haproxy.ts'
import { absolute, atMost, type Figure, type Session } from './figure.ts'
import { killProcess, pidsWith } from './processes.ts'
import { until } from './until.ts'

/** A router process of a measurement. */
export interface StartedRouter {
  readonly process: RouterProcessOptions & { readonly tls: { readonly port: number } }
  readonly pid: number
}

/** Starts a router with an empty table and these certificates. It ends with the session. */
export async function startRouterProcess(
  session: Session,
  source: TlsSource,
  more: Pick<RouterProcessOptions, 'connections'> & { readonly haproxy?: string | undefined } = {},
): Promise<StartedRouter> {
  const folder = await mkdtemp(join(tmpdir(), 'quayside-bench-router-'))
  session.ending.defer(() => rm(folder, { recursive: true, force: true }))
  const process = {
    host: '127.0.0.1',
    port: await findFreePort(),
    controlSocket: join(folder, 'control.sock'),
    stateFile: join(folder, 'routes.json'),
    logFile: join(folder, 'router.log'),
    tls: { port: await findFreePort(), source },
    // As in most installations, so that names have no port.
    publicPorts: { port: 80, tlsPort: 443 },
    ...(more.haproxy !== undefined && { haproxy: more.haproxy }),
    ...(more.connections && { connections: more.connections }),
  }
  // After its routers, which start HAProxy again whenever it ends.
  session.ending.defer(() => endHaproxies(process.controlSocket))
  return { process, pid: await startAgain(session, process) }
}

async function endHaproxies(controlSocket: string): Promise<void> {
  for (const pid of await pidsWith(frontFiles(controlSocket).configuration)) await killProcess(pid)
}

/** Starts the process of a router. It ends with the session. */
export async function startAgain(session: Session, process: RouterProcessOptions): Promise<number> {
  const { pid } = await ensureRouterProcess(process)
  session.ending.defer(() => killProcess(pid))
  return pid
}

/** Waits until HAProxy serves, and returns its process. It ends with the session. */
export const haproxyOf = (process: RouterProcessOptions): Promise<number> =>
  until(
    'HAProxy serves',
    async () => {
      const found = (await findRouter(process))?.haproxyPid
      return typeof found === 'number' && found
    },
    { limitMs: 120_000 },
  )

/**
 * Measures a figure without HAProxy, and one with `-haproxy` in its name with it. `measure` gets
 * the program of HAProxy.
 */
export async function withoutAndWith(
  session: Session,
  name: string,
  { unit, limit }: { readonly unit: string; readonly limit: number },
  measure: (session: Session, program?: string) => Promise<number>,
): Promise<Figure[]> {
  const alone = absolute(name, await measure(session), unit, atMost(limit))
  const missing = await missingHaproxy()
  if (missing === undefined)
    return [alone, absolute(`${name}-haproxy`, await measure(session, haproxy), unit, atMost(limit))]
  session.say(`${name}-haproxy is not measured: ${missing}`)
  return [alone]
}

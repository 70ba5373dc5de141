import { closeSync, openSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../lib/clock.ts'
import { AppError } from '../../lib/error.ts'
import { start } from '../../lib/run.ts'
import { findRouter, type Health, serves } from './find-router.ts'
import { portForbiddenText, portInUseText } from './port-problems.ts'
import type { RouterProcessOptions } from './router-process.ts'

const portInUse = 98
const portForbidden = 99
const startMs = 15_000
/** A started process may take this long to answer if the caller no longer wants it. */
const afterAbortMs = 5_000
/** The most starts in a row of processes that are killed. */
const mostStarts = 5
const program = fileURLToPath(new URL('../../../router/main.ts', import.meta.url))

/**
 * Retries the start a few times if the process is killed before it answers. The kill may have been
 * meant for another process.
 */
export async function startRouter(options: RouterProcessOptions, more: readonly string[] = []): Promise<Health> {
  const { clock = systemClock } = options
  for (const path of [options.controlSocket, options.stateFile, options.logFile]) {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  }
  const end = clock.monotonic() + startMs
  for (let left = mostStarts; ; left--) {
    const outcome = await startOnce(options, more, end)
    options.signal?.throwIfAborted()
    if ('pid' in outcome) return outcome
    // Another control plane may have started one at the same time.
    const other = await findRouter(options)
    if (other && serves(other, options)) return other
    if (!outcome.wasKilled || left <= 1 || clock.monotonic() >= end) throw await notStarted(options, outcome)
  }
}

interface NotStarted {
  readonly exitCode: number | null
  readonly wasKilled: boolean
  readonly failure: unknown
}

/**
 * Starts one process and waits until it answers or ends. An abort does not interrupt this wait,
 * because a process that does not answer yet cannot be found by anybody who wants to end it. Kills
 * the process if it does not answer before `end`, or soon after an abort.
 */
async function startOnce(
  options: RouterProcessOptions,
  more: readonly string[],
  end: number,
): Promise<Health | NotStarted> {
  const { controlSocket, signal, clock = systemClock } = options
  const child = spawnRouter(options, more)
  let failure: unknown
  child.once('error', (error) => {
    failure = error
  })
  let last = end
  const shorten = (): void => {
    last = Math.min(end, clock.monotonic() + afterAbortMs)
  }
  signal?.addEventListener('abort', shorten, { once: true })
  if (child.pid !== undefined) options.spawned?.(child.pid)
  try {
    while (clock.monotonic() < last) {
      if (failure !== undefined || child.exitCode !== null || child.signalCode !== null) break
      const found = await findRouter({ controlSocket })
      if (found) return found
      await clock.sleep(20)
    }
  } finally {
    signal?.removeEventListener('abort', shorten)
  }
  const { exitCode, signalCode } = child
  child.kill('SIGKILL')
  return { exitCode, wasKilled: signalCode !== null, failure }
}

function spawnRouter(options: RouterProcessOptions, more: readonly string[]): ReturnType<typeof start> {
  const log = openSync(options.logFile, 'a', 0o600)
  const child = start(process.execPath, [...commandLine(options), ...more], {
    stdio: ['ignore', log, log],
    env: options.cacheFolder ? { NODE_COMPILE_CACHE: options.cacheFolder } : {},
  })
  closeSync(log)
  child.unref()
  return child
}

function commandLine(options: RouterProcessOptions): string[] {
  const { host, port, tls, controlSocket, stateFile, trusted = [], proxies = [], connections, haproxy, http3 } = options
  const { port: publicPort, tlsPort: publicTlsPort } = options.publicPorts ?? {}
  const flags = ['--host', host, '--port', String(port), '--control', controlSocket, '--state', stateFile]
  if (tls) flags.push('--tls-port', String(tls.port))
  if (publicPort !== undefined) flags.push('--public-port', String(publicPort))
  if (publicTlsPort !== undefined) flags.push('--public-tls-port', String(publicTlsPort))
  if (haproxy !== undefined) flags.push('--haproxy', haproxy, ...(http3 ? ['--http3'] : []))
  if (trusted.length > 0) flags.push('--trusted', trusted.join(','))
  if (proxies.length > 0) flags.push('--proxies', proxies.join(','))
  if (connections) {
    flags.push('--connections', String(connections.total), '--connections-per-client', String(connections.perClient))
  }
  return ['--max-semi-space-size=4', program, ...flags]
}

async function notStarted(options: RouterProcessOptions, { exitCode, failure: cause }: NotStarted): Promise<AppError> {
  if (exitCode === portInUse) return new AppError('unavailable', portInUseText(options))
  if (exitCode === portForbidden) return new AppError('unavailable', portForbiddenText(options))
  const log = await readFile(options.logFile, 'utf8').catch(() => '')
  return new AppError('unavailable', `The router process did not start; see ${options.logFile}.`, {
    cause,
    details: { exitCode, log: log.slice(-2_000) },
  })
}

import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import { startDeadline } from '../../lib/deadline.ts'
import { assertNever, messageOf } from '../../lib/error.ts'
import type { Probe } from '../engine.ts'

export type ProbeOutcome =
  | { readonly healthy: true }
  /** `silent`: nothing listens on the port, so an early retry costs the program nothing. */
  | { readonly healthy: false; readonly silent: boolean; readonly why: string }

export interface ProbeTarget {
  /** The container's address. Probes never connect to any other. */
  readonly address: string
  exec(command: readonly string[], signal: AbortSignal): Promise<{ exitCode: number; output: string }>
}

const healthy: ProbeOutcome = { healthy: true }

/** Runs one check. Rejects only if the caller's signal is aborted. */
export async function probe(
  check: Probe['check'],
  target: ProbeTarget,
  timeoutSeconds: number,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const deadline = startDeadline(timeoutSeconds * 1000, signal)
  try {
    return await ask(check, target, deadline.signal)
  } catch (error) {
    signal.throwIfAborted()
    if (deadline.isOver)
      return { healthy: false, silent: false, why: `${describe(check)} got no answer within ${timeoutSeconds} s` }
    const silent = error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED'
    return { healthy: false, silent, why: `${describe(check)} failed: ${messageOf(error)}` }
  }
}

async function ask(check: Probe['check'], target: ProbeTarget, signal: AbortSignal): Promise<ProbeOutcome> {
  switch (check.type) {
    case 'tcp':
      await reach(target.address, check.port, signal)
      return healthy
    case 'http': {
      const status = await statusOf(check, target.address, signal)
      // Redirects count as success, as in Kubernetes, for example one to a login page.
      if (status >= 200 && status < 400) return healthy
      return { healthy: false, silent: false, why: `${describe(check)} was answered with ${status}` }
    }
    case 'exec': {
      const { exitCode, output } = await target.exec(check.command, signal)
      if (exitCode === 0) return healthy
      const said = output.trim().slice(0, 200)
      return {
        healthy: false,
        silent: false,
        why: `${describe(check)} ended with code ${exitCode}${said && `: ${said}`}`,
      }
    }
    case 'grpc': {
      // Loaded on first use: few services have such a probe, and the library uses memory.
      const { probeGrpc } = await import('./grpc-probe.ts')
      const serving = await probeGrpc(target.address, check.port, check.service, signal)
      return serving === 'SERVING'
        ? healthy
        : { healthy: false, silent: false, why: `${describe(check)} was answered with ${serving}` }
    }
    default:
      return assertNever(check)
  }
}

export function describe(check: Probe['check']): string {
  switch (check.type) {
    case 'tcp':
      return `connecting to port ${check.port}`
    case 'http':
      return `GET ${check.path} on port ${check.port}`
    case 'exec':
      return `the health command ${JSON.stringify(check.command[0] ?? '')}`
    case 'grpc':
      return `the gRPC health check on port ${check.port}`
    default:
      return assertNever(check)
  }
}

function reach(host: string, port: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket = connect({ host, port, signal })
  socket.once('connect', () => {
    resolve()
    socket.destroy()
  })
  socket.once('error', reject)
  return promise
}

function statusOf(
  check: Extract<Probe['check'], { type: 'http' }>,
  host: string,
  signal: AbortSignal,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const options = {
    host,
    port: check.port,
    path: check.path,
    signal,
    agent: false,
    headers: { 'user-agent': 'quayside-probe' },
  }
  const answer = (response: IncomingMessage): void => {
    resolve(response.statusCode ?? 0)
    response.destroy()
  }
  // Programs inside an environment have certificates of their own. The probe checks for a response,
  // not for an identity.
  const request =
    check.scheme === 'HTTPS'
      ? httpsRequest({ ...options, rejectUnauthorized: false }, answer)
      : httpRequest(options, answer)
  request.on('error', reject)
  request.end()
  return promise
}

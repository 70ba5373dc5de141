import { run } from '../../server/lib/run.ts'

/** The protocols under which a front is loaded. */
export const wires = ['http', 'tls', 'h2'] as const
export type Wire = (typeof wires)[number]

/** The load of one round: requests over 32 connections to a port of 127.0.0.1. */
export interface FrontLoad {
  readonly wire: Wire
  readonly host: string
  readonly port: number
  readonly seconds: number
}

const connections = 32
/** Concurrent requests of one connection of HTTP/2. */
const streams = 4

/**
 * Returns requests answered a second, as `h2load` counts them. It is a program in C, so it costs
 * less than the proxies that it measures. Throws unless every request succeeds.
 */
export async function loadFront({ wire, host, port, seconds }: FrontLoad): Promise<number> {
  const scheme = wire === 'http' ? 'http' : 'https'
  const protocol = wire === 'h2' ? ['-m', String(streams)] : ['--h1']
  const args = [...protocol, '-t1', `-c${connections}`, `-D${seconds}`, `--connect-to=127.0.0.1:${port}`]
  const { stdout, stderr } = await run('h2load', [...args, `${scheme}://${host}:${port}/`], { timeoutMs: 60_000 })
  const text = stdout.toString()
  const perSecond = /, ([\d.]+) req\/s/.exec(text)?.[1]
  const failed = /(\d+) failed, (\d+) errored, (\d+) timeout/.exec(text)
  const status = /status codes: (\d+) 2xx, (.*)/.exec(text)
  if (!perSecond || !failed || !status) throw new Error(`h2load failed: ${text}${stderr}`)
  // Requests that are open at the end of the time count as failed, at most as many as fit at once.
  const open = connections * (wire === 'h2' ? streams : 1)
  const isBroken = Number(failed[1]) > open || Number(failed[3]) > 0 || Number(status[1]) === 0
  if (isBroken || !/^0 3xx, 0 4xx, 0 5xx/.test(status[2] ?? '')) {
    throw new Error(`under load, not every request to port ${port} succeeded: ${failed[0]}; ${status[0]}`)
  }
  return Number(perSecond)
}

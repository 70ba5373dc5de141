import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

/** The port and protocol of a front. */
export type FrontPort = Omit<FrontLoad, 'seconds'>

/**
 * Returns requests answered a second, as `h2load` counts them. It is a program in C, so it costs
 * less than the proxies that it measures. Throws unless every request succeeds.
 */
export async function loadFront({ seconds, ...to }: FrontLoad): Promise<number> {
  const text = await load(to, [`-c${connections}`, `-D${seconds}`])
  const perSecond = /, ([\d.]+) req\/s/.exec(text)?.[1]
  if (!perSecond) throw new Error(`h2load did not report its requests a second: ${text}`)
  return Number(perSecond)
}

/**
 * Returns the times of requests in microseconds, while a fixed number of them a second is sent.
 * Each connection has a process of its own: `h2load` sends what is due every 10 ms, and would send
 * it over all connections of a process at the same moment.
 */
export async function timesOf({ seconds, ...to }: FrontLoad, perSecond: number): Promise<number[]> {
  const folder = await mkdtemp(join(tmpdir(), 'quayside-bench-times-'))
  try {
    const rate = `--rps=${Math.max(Math.floor(perSecond / connections), 1)}`
    const times = await Promise.all(
      Array.from({ length: connections }, async (_, index) => {
        const file = join(folder, `times-${index}`)
        await load(to, ['-c1', `-D${seconds}`, rate, `--log-file=${file}`])
        return timesIn(await readFile(file, 'utf8'))
      }),
    )
    return times.flat()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Reads the times of successful requests from a log of `h2load`. */
const timesIn = (log: string): number[] =>
  log
    .trimEnd()
    .split('\n')
    .flatMap((line) => {
      const [, status, micros] = line.split('\t').map(Number)
      return status === 200 && micros !== undefined ? [micros] : []
    })

/** Opens this many connections at once, with one request each. Returns the seconds it takes. */
export const connectAll = async (to: FrontPort, count: number): Promise<number> =>
  secondsOf(await load(to, [`-c${count}`, `-n${count}`]))

/** Receives one response of this many bytes. Returns the seconds it takes. */
export async function download(to: FrontPort, bytes: number): Promise<number> {
  const text = await load(to, ['-c1', '-n1'])
  const received = Number(/traffic: .*\((\d+)\) total/.exec(text)?.[1])
  if (!(received >= bytes)) throw new Error(`the response is not whole: ${text}`)
  return secondsOf(text)
}

const units: Readonly<Record<string, number>> = { us: 1e-6, ms: 1e-3, s: 1, m: 60 }

function secondsOf(text: string): number {
  const [, value, unit = ''] = /finished in ([\d.]+)(us|ms|s|m),/.exec(text) ?? []
  const seconds = Number(value) * (units[unit] ?? Number.NaN)
  if (!(seconds > 0)) throw new Error(`h2load did not report its time: ${text}`)
  return seconds
}

/** Returns what `h2load` prints. Throws unless every request succeeds. */
async function load({ wire, host, port }: FrontPort, what: readonly string[]): Promise<string> {
  const scheme = wire === 'http' ? 'http' : 'https'
  const protocol = wire === 'h2' ? ['-m', String(streams)] : ['--h1']
  const args = [...protocol, '-t1', ...what, `--connect-to=127.0.0.1:${port}`]
  const { stdout, stderr } = await run('h2load', [...args, `${scheme}://${host}/`], { timeoutMs: 120_000 })
  const text = stdout.toString()
  const failed = /(\d+) failed, (\d+) errored, (\d+) timeout/.exec(text)
  const status = /status codes: (\d+) 2xx, (.*)/.exec(text)
  if (!failed || !status) throw new Error(`h2load failed: ${text}${stderr}`)
  // Requests that are open at the end of the time count as failed, at most as many as fit at once.
  const open = what.some((one) => one.startsWith('-D')) ? connections * (wire === 'h2' ? streams : 1) : 0
  const isBroken = Number(failed[1]) > open || Number(failed[3]) > 0 || Number(status[1]) === 0
  if (isBroken || !/^0 3xx, 0 4xx, 0 5xx/.test(status[2] ?? '')) {
    throw new Error(`under load, not every request to port ${port} succeeded: ${failed[0]}; ${status[0]}`)
  }
  return text
}

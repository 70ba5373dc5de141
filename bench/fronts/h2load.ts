import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
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
  return perSecondIn(await load(to, [`-c${connections}`, `-D${seconds}`]))
}

function perSecondIn(text: string): number {
  const perSecond = /, ([\d.]+) req\/s/.exec(text)?.[1]
  if (!perSecond) throw new Error(`h2load did not report its requests a second: ${text}`)
  return Number(perSecond)
}

/**
 * Returns the most requests a second over connections that have a process and one request each, as
 * in `timesOf`. A process for each connection costs more than one for all.
 */
export async function mostOneByOne({ seconds, ...to }: FrontLoad): Promise<number> {
  const each = await Promise.all(
    Array.from({ length: connections }, async () => perSecondIn(await load(to, ['-c1', '-m1', `-D${seconds}`]))),
  )
  return each.reduce((sum, one) => sum + one, 0)
}

/** A request. */
export interface Timed {
  /** When it was sent, in microseconds. */
  readonly at: number
  readonly micros: number
}

/**
 * Returns the times of requests, while about this many a second are sent at random moments. Each
 * connection has a process of its own, because all connections of a process follow the same list
 * of moments.
 */
export async function timesOf({ seconds, ...to }: FrontLoad, perSecond: number): Promise<Timed[]> {
  const folder = await mkdtemp(join(tmpdir(), 'quayside-bench-times-'))
  try {
    const times = await Promise.all(
      Array.from({ length: connections }, async (_, index) => {
        const [moments, log] = [join(folder, `moments-${index}`), join(folder, `times-${index}`)]
        await writeFile(moments, momentsOf(urlOf(to), perSecond / connections, seconds))
        await load(to, ['-c1', `--timing-script-file=${moments}`, `--log-file=${log}`])
        return timesIn(await readFile(log, 'utf8'))
      }),
    )
    return times.flat()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The processes start and connect meanwhile. They would slow down the first requests. */
const settleMs = 1_500

/**
 * Returns a list for `h2load` of independent moments, in milliseconds. Its own fixed rate sends in
 * bursts, every 10 ms what is due.
 */
function momentsOf(url: string, perSecond: number, seconds: number): string {
  const lines: string[] = []
  let at = settleMs
  do {
    at += (-Math.log(1 - Math.random()) * 1000) / perSecond
    lines.push(`${at.toFixed(3)}\t${url}`)
  } while (at < settleMs + seconds * 1000)
  return `${lines.join('\n')}\n`
}

/** Reads the times of successful requests from a log of `h2load`. */
const timesIn = (log: string): Timed[] =>
  log
    .trimEnd()
    .split('\n')
    .flatMap((line) => {
      const [at, status, micros] = line.split('\t').map(Number)
      return status === 200 && at !== undefined && micros !== undefined ? [{ at, micros }] : []
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

const urlOf = ({ wire, host }: FrontPort): string => `${wire === 'http' ? 'http' : 'https'}://${host}/`

/** Returns what `h2load` prints. Throws unless every request succeeds. */
async function load(to: FrontPort, what: readonly string[]): Promise<string> {
  const { wire, port } = to
  const protocol = wire === 'h2' ? ['-m', String(streams)] : ['--h1']
  const args = [...protocol, '-t1', ...what, `--connect-to=127.0.0.1:${port}`]
  const { stdout, stderr } = await run('h2load', [...args, urlOf(to)], { timeoutMs: 120_000 })
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

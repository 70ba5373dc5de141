import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { killGroup, run, start } from '../../server/lib/run.ts'
import { sleep } from '../clock.ts'

/**
 * Requests a second of the router and of the floor (a bare Node proxy), on the same upstream, by turns in one run; prints
 * the medians, their ratio and the router's memory. Arguments: rounds (5), seconds a round (4). Needs wrk.
 */
const [rounds = 5, seconds = 4] = process.argv.slice(2).map(Number)
const ports = { upstream: 19201, floor: 19202, router: 19203 }
const folder = await mkdtemp(join(tmpdir(), 'router-bench-'))
const control = join(folder, 'control.sock')
const file = (name: string): string => new URL(name, import.meta.url).pathname
const log = (text: string): boolean => process.stdout.write(`${text}\n`)

const node = (...args: string[]): ReturnType<typeof start> => start(process.execPath, args, { stdio: 'ignore' })
const children = [
  node(file('upstream.ts'), String(ports.upstream)),
  node(file('floor.ts'), String(ports.floor), String(ports.upstream)),
  node(
    file('../main.ts'),
    ...['--port', String(ports.router), '--control', control, '--state', join(folder, 'state.json')],
  ),
]
try {
  for (const port of Object.values(ports)) await listening(port)
  await putRoutes()
  log(`router idle: ${await memory()}`)
  await load(ports.router, 2)
  await load(ports.floor, 2)
  const pids = { floor: children[1]?.pid, router: children[2]?.pid }
  const results: Record<keyof typeof pids, { perSecond: number; cpuMicros: number }[]> = { floor: [], router: [] }
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 ? (['router', 'floor'] as const) : (['floor', 'router'] as const)) {
      const before = await cpuSeconds(pids[name])
      const { perSecond, text } = await load(ports[name], seconds)
      const cpuMicros = Math.round((((await cpuSeconds(pids[name])) - before) * 1e6) / (perSecond * seconds))
      results[name].push({ perSecond, cpuMicros })
      log(`${name.padEnd(6)} ${text}, ${cpuMicros} µs of CPU a request`)
    }
  }
  for (const figure of ['perSecond', 'cpuMicros'] as const) {
    const [floor, router] = [median(results.floor.map((r) => r[figure])), median(results.router.map((r) => r[figure]))]
    log(`median ${figure}: floor ${floor}, router ${router}, router/floor ${(router / floor).toFixed(2)}`)
  }
  log(`router after load: ${await memory()}`)
} finally {
  for (const child of children) killGroup(child)
  await rm(folder, { recursive: true, force: true })
}

async function load(port: number, duration: number): Promise<{ perSecond: number; text: string }> {
  const args = [
    '-t1',
    '-c32',
    `-d${duration}s`,
    '--latency',
    '-H',
    'Host: bench.localhost',
    `http://127.0.0.1:${port}/`,
  ]
  const { stdout } = await run('wrk', args, { timeoutMs: 60_000 })
  const text = stdout.toString()
  const perSecond = Math.round(Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]))
  const errors = /(Non-2xx.*|Socket errors.*)/.exec(text)?.[1] ?? 'no errors'
  return { perSecond, text: `${perSecond}/s p99 ${/99%\s+(\S+)/.exec(text)?.[1]} ${errors}` }
}

async function memory(): Promise<string> {
  const rollup = await readFile(`/proc/${children[2]?.pid}/smaps_rollup`, 'utf8')
  const part = (name: string): number =>
    Math.round(Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(rollup)?.[1]) / 1024)
  return `RSS ${part('Rss')} MB, PSS ${part('Pss')} MB`
}

/** Processor time that a process has used so far, in user and kernel mode. */
async function cpuSeconds(pid: number | undefined): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}

async function listening(port: number): Promise<void> {
  for (let left = 200; left > 0; left--) {
    const socket = createConnection(port, '127.0.0.1')
    const open = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    socket.destroy()
    if (open) return
    await sleep(25)
  }
  throw new Error(`nothing listens on ${port}`)
}

function putRoutes(): Promise<void> {
  const endpoints = [{ address: '127.0.0.1', port: ports.upstream }]
  const routes = [{ host: 'bench.localhost', service: 'bench', name: 'bench', endpoints }]
  return new Promise((resolve, reject) => {
    const put = request({ socketPath: control, method: 'PUT', path: '/routes' }, (answer) => {
      answer.resume().on('end', resolve)
    })
    put.on('error', reject)
    put.end(JSON.stringify({ version: 1, routes }))
  })
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { run } from '../server/lib/run.ts'

/** A load of requests over 32 connections to 127.0.0.1. */
export interface Load {
  readonly port: number
  /** Requested in turn. */
  readonly paths: readonly string[]
  readonly method?: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly seconds: number
}

export interface Loaded {
  readonly perSecond: number
  readonly answered: number
}

const connections = 32

/**
 * Counts answered requests, with `wrk` if it is installed, otherwise autocannon. Throws unless all
 * succeed.
 */
export async function load(asked: Load): Promise<Loaded> {
  const { answered, failures, seconds } = (await hasWrk()) ? await byWrk(asked) : await byAutocannon(asked)
  if (failures !== '') throw new Error(`under load, not every request to ${asked.paths[0]} succeeded: ${failures}`)
  return { perSecond: answered / seconds, answered }
}

export const loadProgram = async (): Promise<string> => ((await hasWrk()) ? 'wrk' : 'autocannon')

const hasWrk = (): Promise<boolean> =>
  run('wrk', ['--version'], { timeoutMs: 5000 }).then(
    () => true,
    () => false,
  )

interface Outcome {
  readonly answered: number
  readonly seconds: number
  readonly failures: string
}

async function byWrk(asked: Load): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'quayside-bench-load-'))
  try {
    const script = join(folder, 'requests.lua')
    await writeFile(script, luaOf(asked))
    const args = ['-t1', `-c${connections}`, `-d${asked.seconds}s`, '--timeout', '10s', '-s', script]
    const { stdout, stderr } = await run('wrk', [...args, `http://127.0.0.1:${asked.port}/`], { timeoutMs: 60_000 })
    const text = stdout.toString()
    const [, answered, seconds] = /(\d+) requests in ([\d.]+)s/.exec(text) ?? []
    if (!answered || !seconds) throw new Error(`wrk failed: ${text}${stderr}`)
    const failures = /(Non-2xx.*|Socket errors.*)/.exec(text)?.[1] ?? ''
    return { answered: Number(answered), seconds: Number(seconds), failures }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A single path is set once. A list of paths builds a request each time. */
function luaOf({ paths, method = 'GET', headers = {}, body }: Load): string {
  const lines = [`wrk.method = ${lua(method)}`, ...(body === undefined ? [] : [`wrk.body = ${lua(body)}`])]
  for (const [name, value] of Object.entries(headers)) lines.push(`wrk.headers[${lua(name)}] = ${lua(value)}`)
  if (paths.length === 1) return [...lines, `wrk.path = ${lua(paths[0] ?? '/')}`].join('\n')
  return [
    ...lines,
    `local paths = {${paths.map(lua).join(',')}}`,
    'local last = 0',
    'request = function()',
    '  last = last % #paths + 1',
    '  return wrk.format(nil, paths[last])',
    'end',
  ].join('\n')
}

/** Quotes a string for Lua. The strings are ASCII, which both languages write alike. */
const lua = (text: string): string => JSON.stringify(text)

/**
 * Gives each connection its own paths, because each connection of autocannon begins with the first
 * one.
 */
async function byAutocannon({ port, paths, method = 'GET', headers = {}, body, seconds }: Load): Promise<Outcome> {
  const requests = paths.map((path) => ({ method, path, headers, ...(body === undefined ? {} : { body }) }))
  let next = 0
  const result = await autocannon({
    url: `http://127.0.0.1:${port}`,
    connections,
    duration: seconds,
    setupClient: (client) => {
      const first = next++
      const own = requests.filter((_, index) => index % connections === first)
      client.setRequests(own.length > 0 ? own : requests)
    },
  })
  const failed = result.non2xx + result.errors
  return { answered: result['2xx'], seconds: result.duration, failures: failed > 0 ? `${failed} failed` : '' }
}

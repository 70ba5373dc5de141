import type { DockerDaemon } from './daemon.ts'
import { type Cursor, cursorAt, type Frame, frames, onlyNew, type TimedLine, timedLines } from './frames.ts'

export interface OutputQuery {
  readonly follow: boolean
  /** Returns only later lines, and advances with them. */
  readonly cursor: Cursor
  /** Returns only this many last lines. */
  readonly tail?: number
}

/**
 * Returns the output of one container in order, and new output while `follow` is set. Ends when the
 * container does; throws when the connection breaks.
 */
export async function* containerOutput(
  daemon: DockerDaemon,
  container: string,
  query: OutputQuery,
  signal: AbortSignal,
): AsyncGenerator<TimedLine> {
  const since = sinceOf(query.cursor)
  const response = await daemon.stream({
    method: 'GET',
    path: `/containers/${container}/logs`,
    query: {
      stdout: true,
      stderr: true,
      timestamps: true,
      follow: query.follow,
      ...(since && { since }),
      ...(query.tail && { tail: query.tail }),
    },
    signal,
  })
  try {
    yield* onlyNew(timedLines(frames(response)), query.cursor)
  } finally {
    response.destroy()
  }
}

export async function lastLines(
  daemon: DockerDaemon,
  container: string,
  count: number,
  signal: AbortSignal,
): Promise<string[]> {
  const lines: string[] = []
  for await (const line of containerOutput(
    daemon,
    container,
    { follow: false, tail: count, cursor: cursorAt() },
    signal,
  ))
    lines.push(line.text)
  return lines
}

/**
 * Runs a program inside a running container, by argument list. Returns its output (at most 64 kB)
 * and exit code. Aborting the signal leaves it running.
 */
export async function execIn(
  daemon: DockerDaemon,
  container: string,
  command: readonly string[],
  signal: AbortSignal,
): Promise<{ exitCode: number; output: string }> {
  const created = await daemon.json({
    method: 'POST',
    path: `/containers/${container}/exec`,
    body: { AttachStdout: true, AttachStderr: true, Tty: false, Cmd: command },
    signal,
  })
  const id = 'Id' in created ? String(created.Id) : ''
  const response = await daemon.stream({
    method: 'POST',
    path: `/exec/${id}/start`,
    body: { Detach: false, Tty: false },
    signal,
  })
  const output = await collect(frames(response))
  const ended = await daemon.json({ method: 'GET', path: `/exec/${id}/json`, signal })
  return { exitCode: 'ExitCode' in ended && typeof ended.ExitCode === 'number' ? ended.ExitCode : -1, output }
}

const maxOutputBytes = 64 * 1024

async function collect(source: AsyncIterable<Frame>): Promise<string> {
  const kept: Buffer[] = []
  let room = maxOutputBytes
  for await (const { payload } of source) {
    if (room <= 0) continue
    kept.push(payload.subarray(0, room))
    room -= payload.length
  }
  return Buffer.concat(kept).toString()
}

/**
 * Returns the time from which to read again: the last line of the stream that is behind, but at
 * most a second back, or a silent stream would make us read everything again.
 */
export function sinceOf({ stdout, stderr }: Cursor): string | undefined {
  const [behind, ahead] = stdout < stderr ? [stdout, stderr] : [stderr, stdout]
  if (ahead === '') return undefined
  const second = new Date(Date.parse(ahead) - 1_000).toISOString()
  return unixTime(behind > second ? behind : second)
}

/**
 * Converts `2026-11-21T10:00:00.123456789Z` to `1795255200.123456789`, as text: a number would lose
 * the last digits.
 */
export function unixTime(at: string): string {
  const [, seconds, fraction = ''] = /^(.*?)(?:\.(\d+))?Z$/.exec(at) ?? []
  const whole = Date.parse(`${seconds}Z`)
  if (Number.isNaN(whole)) throw new RangeError(`"${at}" is not a moment in RFC 3339 with Z`)
  return `${Math.floor(whole / 1000)}.${fraction.padEnd(9, '0')}`
}

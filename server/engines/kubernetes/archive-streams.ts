import { once } from 'node:events'
import { EngineError } from '../engine.ts'
import type { ContainerPlace, KubeExec } from './client/index.ts'
import type { KubeHost } from './host.ts'

/** The most that is kept of what a command says about a failure. */
const longestWords = 2000

/** Passes on what a command prints. Throws EngineError if it fails. */
export async function* printed(
  { kube }: KubeHost,
  place: ContainerPlace,
  command: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const running = await kube.exec(place, command, { hasTerminal: false, hasInput: false }, signal)
  const words = wordsOf(running)
  try {
    yield* running.stdout
    const code = await running.exitCode()
    if (code !== 0) throw failure(command, code, words())
  } finally {
    running.close()
  }
}

/** Runs a command. Throws EngineError if it fails. */
export async function run(
  host: KubeHost,
  place: ContainerPlace,
  command: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  for await (const _ of printed(host, place, command, signal)) {
    // What it prints says nothing.
  }
}

/**
 * Passes pieces to the input of a command. It may end before the last one, but every piece is
 * taken. Throws EngineError if it fails; errors of `pieces` pass through.
 */
export async function fed(
  { kube }: KubeHost,
  place: ContainerPlace,
  command: readonly string[],
  pieces: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const running = await kube.exec(place, command, { hasTerminal: false, hasInput: true }, signal)
  const words = wordsOf(running)
  running.stdout.resume()
  let isOver = false
  const ended = running.exitCode().finally(() => {
    isOver = true
  })
  // The end is awaited below.
  ended.catch(() => {})
  try {
    for await (const piece of pieces) {
      if (isOver || running.stdin.write(piece)) continue
      await Promise.race([once(running.stdin, 'drain', { signal }).catch(() => {}), ended])
    }
    if (!isOver) running.stdin.end()
    const code = await ended
    if (code !== 0) throw failure(command, code, words())
  } finally {
    running.close()
  }
}

/** Collects what a command says about itself. */
function wordsOf({ stderr }: KubeExec): () => string {
  let said = ''
  stderr.on('data', (piece: Buffer) => {
    if (said.length < longestWords) said += piece.toString()
  })
  return () => said.slice(0, longestWords).trim()
}

function failure(command: readonly string[], code: number | undefined, words: string): EngineError {
  if (code === undefined) return new EngineError('unreachable', 'the connection to a pod broke')
  if (/no space left on device/i.test(words)) {
    return new EngineError('disk-full', `The volume is full: ${words}. Give the storage a larger size, and try again.`)
  }
  const [program = ''] = command
  return new EngineError('refused', `${program} ended with code ${code} in a pod of the platform: ${words}`)
}

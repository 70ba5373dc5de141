import type { LogLine } from '../engine.ts'
import { boundedLines } from './bounded-lines.ts'
import { type ContainerPlace, isKubeError, type Kube } from './client/index.ts'
import type { PodState } from './pod-state.ts'

/** A line of the log keeps 16 KiB. A longer one is cut there, and says so. */
const mostLineBytes = 64 * 1024

/** A container whose lines are read, and where the last read ended. */
export interface Printed {
  readonly place: ContainerPlace
  readonly release: string
  /** Whether lines name the container. */
  readonly isOfChart: boolean
  /** The time of the last line that was returned. */
  readonly cursor: { at: string }
}

/** Returns the place of a container's lines. `after`: the moment after which lines are wanted. */
export const printedBy = (
  { namespace, name, release, isOfChart }: PodState,
  container: string,
  after = '',
): Printed => ({
  place: { namespace, pod: name, container },
  release,
  isOfChart,
  cursor: { at: after },
})

/**
 * Returns the lines of a container after its cursor, which moves along. Kubernetes joins both
 * outputs of a program into one, so every line counts as one of `stdout`. A container that is gone
 * or never started has no lines.
 */
export async function* linesOf(
  kube: Pick<Kube, 'log'>,
  { place, release, cursor, isOfChart }: Printed,
  { follow, previous = false }: { readonly follow: boolean; readonly previous?: boolean },
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  // Kubernetes takes whole seconds only, so lines before the cursor come again.
  const since = cursor.at === '' ? undefined : { sinceTime: `${cursor.at.slice(0, 19)}Z` }
  const body = await kube.log(place, { follow, previous, ...since }, signal).catch((error: unknown) => {
    if (isKubeError(error, 400, 404)) return undefined
    throw error
  })
  if (!body) return
  try {
    for await (const line of boundedLines(body, mostLineBytes)) {
      const space = line.indexOf(' ')
      const at = momentOf(space === -1 ? line : line.slice(0, space))
      if (at === undefined || at <= cursor.at) continue
      cursor.at = at
      const text = space === -1 ? '' : line.slice(space + 1)
      const of = isOfChart ? { container: place.container } : {}
      yield { at, replica: place.pod, release, ...of, stream: 'stdout', text }
    }
  } finally {
    body.destroy()
  }
}

/** Returns a time with nine digits of a second: Kubernetes drops the last ones if they are 0. */
export function momentOf(text: string): string | undefined {
  const [, seconds, digits = ''] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/.exec(text) ?? []
  return seconds === undefined ? undefined : `${seconds}.${digits.padEnd(9, '0')}Z`
}

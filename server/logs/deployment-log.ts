import type { LineSink } from '../lib/attempt.ts'
import type { Json } from '../lib/json.ts'
import { gapLine, type StoredLine, type StreamKey } from './line.ts'
import type { LineStore } from './line-store.ts'

/** The reporter of a line. `type` is a word of the API: `Environment`, `Application`, … */
export interface Transmitter {
  readonly id: string
  readonly name: string
  readonly type: string
}

export type Level = 'info' | 'warning' | 'error'

export interface DeploymentLine {
  readonly seq: number
  readonly at: string
  readonly level: Level
  /** Absent for lines of the log itself, such as those about missing lines. */
  readonly transmitter?: Transmitter
  /** The running step: a word of the API, such as `Build`. */
  readonly step: string
  readonly text: string
}

export interface DeploymentReporter {
  readonly executionId: string
  readonly serviceId: string
  readonly serviceName: string
  /** The API's word for the reporter: `Application`, `Environment`, … */
  readonly kind: string
  /** Called for each line. */
  readonly step: () => string
  /**
   * Hides secrets in every text before it is stored. A secret that is split over several calls is
   * not found.
   */
  readonly mask?: (text: string) => string
}

export const deploymentStream = (executionId: string): StreamKey => `deployment/${executionId}`

/**
 * Receives the reports of a deployment's step. A text of several lines is stored as several lines.
 * Lines are dropped and counted only if the disk is far behind.
 */
export function deploymentSink(store: Pick<LineStore, 'append'>, reporter: DeploymentReporter): LineSink {
  const { executionId, serviceId, serviceName, kind, step, mask = (text) => text } = reporter
  const transmitter = { id: serviceId, name: serviceName, type: kind }
  return {
    line: (text, level = 'info') => {
      const lines = mask(text)
        .replace(/\r?\n$/, '')
        .split(/\r?\n/)
      const entry = { level, transmitter, step: step() }
      // A sink cannot wait, so only the store's own limit applies.
      void store.append(
        deploymentStream(executionId),
        lines.map((part) => ({ ...entry, text: part })),
      )
    },
  }
}

/**
 * Returns the last `limit` lines of a deployment, oldest first, after a line that says how many are
 * left out.
 */
export async function readDeploymentLog(
  store: Pick<LineStore, 'tail'>,
  executionId: string,
  limit = 10_000,
): Promise<DeploymentLine[]> {
  const lines = await store.tail(deploymentStream(executionId), limit)
  const [first] = lines
  if (first && first.seq > 1 && first['marker'] === undefined) lines.unshift(gapLine(1, first.seq - 1, first.at))
  return lines.map(deploymentLine)
}

/** Parses one stored line of a deployment's stream. */
export function deploymentLine(line: StoredLine): DeploymentLine {
  const { seq, at, level, step, text } = line
  const transmitter = transmitterOf(line['transmitter'])
  return {
    seq,
    at,
    level: level === 'error' || level === 'warning' ? level : line['marker'] === undefined ? 'info' : 'warning',
    ...(transmitter ? { transmitter } : {}),
    step: typeof step === 'string' ? step : '',
    text: typeof text === 'string' ? text : '',
  }
}

function transmitterOf(value: Json | undefined): Transmitter | undefined {
  if (typeof value !== 'object' || value === null || !('id' in value)) return undefined
  return { id: String(value.id), name: String(value['name']), type: String(value['type']) }
}

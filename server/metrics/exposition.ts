/** The labels of a sample. Values may contain anything. */
export type Labels = Readonly<Record<string, string>>

export interface Sample {
  /** Samples of one thing share an object, whose text is written once. */
  readonly labels?: Labels
  /** Labels of this sample alone, after the shared ones. */
  readonly own?: Labels
  readonly value: number
  /** The end of the name, such as `_sum`. */
  readonly suffix?: string
}

/** Samples with one name and meaning. */
export interface Family {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  readonly samples: readonly Sample[]
}

/** Pure: returns the family that counts what an answer leaves out, because it has no room. */
export const truncated = (what: 'services' | 'certificates', value: number): Family => ({
  name: `quayside_metrics_truncated_${what}`,
  help: `The ${what} without figures, because the answer has too many.`,
  type: 'gauge',
  samples: [{ value }],
})

/** Samples that are written before others have a turn. */
const mostInTurn = 2_000

/**
 * Writes families in the text format of Prometheus (version 0.0.4). A family without samples is
 * left out. The text of thousands of services takes a while, so other work has turns meanwhile.
 */
export async function exposition(families: readonly Family[]): Promise<string> {
  const lines: string[] = []
  const shared = new Map<Labels, string>()
  const textOf = (labels: Labels): string => {
    const text = shared.get(labels) ?? pairsOf(labels)
    shared.set(labels, text)
    return text
  }
  let count = 0
  for (const { name, help, type, samples } of families) {
    if (samples.length > 0) lines.push(`# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`)
    for (const { labels = none, own, value, suffix = '' } of samples) {
      const pairs = own ? [textOf(labels), pairsOf(own)].filter((text) => text !== '').join() : textOf(labels)
      lines.push(`${name}${suffix}${pairs === '' ? '' : `{${pairs}}`} ${numberOf(value)}\n`)
      if (++count % mostInTurn === 0) await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return lines.join('')
}

const none: Labels = {}

const pairsOf = (labels: Labels): string =>
  Object.entries(labels)
    .map(([label, text]) => `${label}="${escapeLabel(text)}"`)
    .join()

const numberOf = (value: number): string =>
  Number.isFinite(value) ? String(value) : Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'

const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
const escapeLabel = (text: string): string => escapeHelp(text).replaceAll('"', '\\"')

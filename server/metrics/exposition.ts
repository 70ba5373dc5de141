/** The labels of a sample. Values may contain anything. */
export type Labels = Readonly<Record<string, string>>

export interface Sample {
  readonly labels?: Labels
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

/**
 * Pure: writes families in the text format of Prometheus (version 0.0.4). A family without samples
 * is left out.
 */
export const exposition = (families: readonly Family[]): string =>
  families
    .filter(({ samples }) => samples.length > 0)
    .flatMap(({ name, help, type, samples }) => [
      `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`,
      ...samples.map((one) => lineOf(name, one)),
    ])
    .join('')

const lineOf = (name: string, { labels = {}, value, suffix = '' }: Sample): string => {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`)
  return `${name}${suffix}${pairs.length === 0 ? '' : `{${pairs.join()}}`} ${numberOf(value)}\n`
}

const numberOf = (value: number): string =>
  Number.isFinite(value) ? String(value) : Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'

const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
const escapeLabel = (text: string): string => escapeHelp(text).replaceAll('"', '\\"')

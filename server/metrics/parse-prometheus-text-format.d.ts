/** Types for the parser with which tests read the figures. It has none of its own. */
declare module 'parse-prometheus-text-format' {
  interface Metric {
    readonly labels?: Readonly<Record<string, string>>
    readonly value?: string
    readonly buckets?: Readonly<Record<string, string>>
    readonly count?: string
    readonly sum?: string
  }
  interface Family {
    readonly name: string
    readonly type: string
    readonly help: string
    readonly metrics: readonly Metric[]
  }
  export default function parse(text: string): readonly Family[]
}

/** One version of a chart in an index. */
export interface ChartVersion {
  readonly version: string
  /** Relative to the repository, or absolute. */
  readonly url: string | undefined
  /** The SHA-256 of its archive in hexadecimal digits. Old indexes have none. */
  readonly digest?: string
}

const mostCharts = 5000
const mostVersions = 1000

/** Versions of all charts that are listed, in the order of the index. Bitnami has some 20,000. */
const mostListed = 50_000
/** A longer name or version is none. */
const longestName = 256

/** An index, and the chart that is looked for. */
export interface IndexQuestion {
  readonly bytes: Uint8Array
  readonly name: string | undefined
}

/** Runs in a worker: returns names and versions only, because all else would take long to copy. */
export function versionsIn({ bytes, name }: IndexQuestion): [string, string[]][] | undefined {
  const charts = readIndex(textOf(bytes))
  if (!charts) return undefined
  let left = mostListed
  return [...charts].flatMap(([chart, all]): [string, string[]][] => {
    if ((name !== undefined && name !== chart) || chart.length > longestName) return []
    const versions = all.map(({ version }) => version).filter((version) => version.length <= longestName)
    const listed = versions.slice(0, left)
    left -= listed.length
    return [[chart, listed]]
  })
}

/** Runs in a worker: returns one version. Null if the index does not list it. */
export function versionIn({
  bytes,
  name = '',
  version,
}: IndexQuestion & { readonly version: string }): ChartVersion | null | undefined {
  const charts = readIndex(textOf(bytes))
  return charts && (charts.get(name)?.find((one) => one.version === version) ?? null)
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()

/**
 * Returns the charts of an `index.yaml` with their versions, in its order, or undefined if the text
 * is not an index. Reads the output of `helm repo index`, and JSON, in one pass and without
 * building a tree: indexes have tens of megabytes.
 */
export function readIndex(text: string): Map<string, ChartVersion[]> | undefined {
  if (/^\s*\{/.test(text)) return readJson(text)
  const reader = new IndexReader()
  let at = 0
  while (at < text.length && !reader.ended) {
    const end = text.indexOf('\n', at)
    const stop = end === -1 ? text.length : end
    reader.line(text.slice(at, Math.min(stop, at + 4096)))
    at = stop + 1
  }
  return reader.result()
}

function readJson(text: string): Map<string, ChartVersion[]> | undefined {
  try {
    const entries: unknown = Object(JSON.parse(text)).entries
    if (typeof entries !== 'object' || entries === null) return undefined
    const charts = Object.entries(entries).slice(0, mostCharts)
    return new Map(charts.map(([name, versions]) => [name, Array.isArray(versions) ? versions.flatMap(ofJson) : []]))
  } catch {
    return undefined
  }
}

function ofJson(given: unknown): ChartVersion[] {
  const { version, urls, digest } = Object(given)
  const url: unknown = Array.isArray(urls) ? urls[0] : undefined
  const sum = typeof digest === 'string' ? { digest } : {}
  return typeof version === 'string' ? [{ version, url: typeof url === 'string' ? url : undefined, ...sum }] : []
}

/**
 * Reads by indentation: `entries:` at the margin, names below it, list items below those, and their
 * fields.
 */
class IndexReader {
  ended = false
  readonly #charts = new Map<string, { version?: string; url?: string; digest?: string }[]>()
  #inEntries = false
  #nameIndent: number | undefined
  #versions: { version?: string; url?: string; digest?: string }[] | undefined
  #dashIndent: number | undefined
  #fieldIndent: number | undefined
  #inUrls = false

  line(raw: string): void {
    const line = raw.replace(/\r$/, '')
    const indent = line.search(/[^ ]/)
    if (indent === -1 || line[indent] === '#') return
    if (indent === 0 && !line.startsWith('- ')) {
      if (this.#inEntries) this.ended = true
      this.#inEntries = /^["']?entries["']?:\s*(?:#.*)?$/.test(line)
      return
    }
    if (!this.#inEntries) return
    this.#nameIndent ??= indent
    if (indent === this.#nameIndent && !line.startsWith('-', indent)) this.#startChart(line.slice(indent))
    else this.#item(line, indent)
  }

  #startChart(text: string): void {
    const name = scalar(/^("(?:[^"\\]|\\.)*"|'[^']*'|[^:]+):/.exec(text)?.[1] ?? '')
    this.#versions = []
    this.#dashIndent = undefined
    if (name !== '' && this.#charts.size < mostCharts) this.#charts.set(name, this.#versions)
  }

  #item(line: string, indent: number): void {
    const isDash = line[indent] === '-'
    if (isDash && (this.#dashIndent ?? indent) === indent) {
      this.#dashIndent = indent
      const content = line.slice(indent + 1)
      this.#fieldIndent = indent + 1 + Math.max(content.search(/\S/), 1)
      this.#inUrls = false
      if ((this.#versions?.length ?? mostVersions) < mostVersions) this.#versions?.push({})
      this.#field(content.trimStart())
    } else if (isDash && this.#inUrls) {
      this.#url(line.slice(indent + 1).trim())
    } else if (indent === this.#fieldIndent) {
      this.#inUrls = false
      this.#field(line.slice(indent))
    }
  }

  #field(text: string): void {
    const current = this.#versions?.at(-1)
    if (!current) return
    const [, key = '', rest = ''] = /^["']?(version|urls|digest)["']?:(.*)$/.exec(text) ?? []
    const value = rest.trimStart()
    if (key === 'version') current.version ??= scalar(value)
    if (key === 'digest') current.digest ??= scalar(value)
    if (key === 'urls') {
      this.#inUrls = true
      const first = /^\[\s*("[^"]*"|'[^']*'|[^,\]\s]+)/.exec(value)?.[1]
      if (first) this.#url(first)
    }
  }

  #url(text: string): void {
    const current = this.#versions?.at(-1)
    if (current) current.url ??= scalar(text)
  }

  result(): Map<string, ChartVersion[]> | undefined {
    if (!this.#inEntries && this.#charts.size === 0) return undefined
    const whole = [...this.#charts].map(([name, versions]): [string, ChartVersion[]] => [
      name,
      versions.flatMap(({ version, url, digest }) => (version ? [{ version, url, ...(digest && { digest }) }] : [])),
    ])
    return new Map(whole)
  }
}

/** Returns a scalar on one line, without quotes and comment. */
function scalar(text: string): string {
  const trimmed = text.trim()
  const double = /^"((?:[^"\\]|\\.)*)"/.exec(trimmed)
  if (double) {
    try {
      return String(JSON.parse(double[0]))
    } catch {
      return double[1] ?? ''
    }
  }
  const single = /^'((?:[^']|'')*)'/.exec(trimmed)
  if (single) return (single[1] ?? '').replaceAll("''", "'")
  // A `#` inside a word does not begin a comment.
  const comment = /\s#/.exec(trimmed)
  return comment ? trimmed.slice(0, comment.index).trimEnd() : trimmed
}

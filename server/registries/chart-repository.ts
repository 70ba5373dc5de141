import { createHash } from 'node:crypto'
import { AppError } from '../lib/error.ts'
import type { Ask } from '../lib/outside.ts'
import { readChartFile } from './chart-archive.ts'
import { type ImageRegistry, refused } from './image-registry.ts'
import { basic, loginOf, type Opened } from './login.ts'
import { chartIn, chartsIn } from './read-index.ts'

const mostIndexBytes = 32 * 1024 * 1024
const mostChartBytes = 16 * 1024 * 1024
const chartLayer = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip'
const manifestType = 'application/vnd.oci.image.manifest.v1+json'
const chartName = /^[A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)*$/

export interface ChartVersions {
  readonly chart_name: string
  readonly versions: string[]
}

/** Reads Helm repositories: those with an index over http(s), and charts in image registries. */
export function createChartRepository(ask: Ask, images: ImageRegistry) {
  const isPacked = ({ kind }: Opened): boolean => kind.startsWith('OCI_')
  const headersOf = (repository: Opened): Readonly<Record<string, string>> => {
    const login = loginOf(repository)
    return login ? { authorization: basic(login) } : {}
  }
  const following = (repository: Opened, signal: AbortSignal) => ({
    signal,
    follows: true,
    anyCertificate: repository.skip_tls_verification === true,
  })

  /** Fetches the index of a repository, and reads from it. */
  async function readIndex<T>(
    repository: Opened,
    read: (bytes: Uint8Array) => Promise<T | undefined>,
    signal: AbortSignal,
  ): Promise<T> {
    const url = new URL(`${repository.url.replace(/\/(?:index\.yaml)?$/, '')}/index.yaml`)
    const answer = await ask(url, {
      headers: headersOf(repository),
      maxBytes: mostIndexBytes,
      ...following(repository, signal),
    })
    if (answer.status !== 200) throw refused(url, answer.status)
    const found = await read(answer.body)
    if (found !== undefined) return found
    throw new AppError('invalid', `${url.host} has no index of charts at ${url.pathname}.`)
  }

  return {
    /**
     * Lists every chart with its versions, newest first. For an image registry only the named
     * chart.
     */
    async charts(repository: Opened, name: string | undefined, signal: AbortSignal): Promise<ChartVersions[]> {
      if (!isPacked(repository)) {
        const charts = await readIndex(repository, (bytes) => chartsIn(bytes, name), signal)
        return charts.map(([chart_name, versions]) => ({ chart_name, versions }))
      }
      if (name === undefined) {
        throw new AppError('invalid', 'chartName is required: an image registry cannot list its charts.')
      }
      const tags = await images.tags(repository, { name: checkChart(name), signal })
      return tags.length === 0 ? [] : [{ chart_name: name, versions: tags.map(versionOf).reverse() }]
    },

    /** Returns a version of a chart as a gzip archive. */
    fetch: (repository: Opened, chart: { name: string; version: string }, signal: AbortSignal): Promise<Buffer> =>
      isPacked(repository) ? fetchPacked(repository, chart, signal) : fetchListed(repository, chart, signal),

    /** Returns the `values.yaml` of a chart's version, empty if it has none. */
    async defaultValues(repository: Opened, chart: { name: string; version: string }, signal: AbortSignal) {
      const archive = isPacked(repository)
        ? await fetchPacked(repository, chart, signal)
        : await fetchListed(repository, chart, signal)
      return (await readChartFile(archive, 'values.yaml')) ?? ''
    },
  }

  async function fetchListed(repository: Opened, chart: { name: string; version: string }, signal: AbortSignal) {
    const found = await readIndex(repository, (bytes) => chartIn(bytes, chart), signal)
    if (!found?.url) throw missing(repository, chart)
    const base = new URL(`${repository.url}/`)
    const url = URL.parse(found.url, base.href)
    if (!url) throw missing(repository, chart)
    // Credentials of the repository's host are never sent to another host.
    const isHome = url.origin === base.origin
    const access = isHome
      ? { ...following(repository, signal), headers: headersOf(repository) }
      : { signal, follows: true }
    const answer = await ask(url, { maxBytes: mostChartBytes, ...access })
    if (answer.status !== 200) throw refused(url, answer.status)
    checkDigest(answer.body, found.digest, `${chart.name} ${chart.version}`)
    return answer.body
  }

  async function fetchPacked(repository: Opened, chart: { name: string; version: string }, signal: AbortSignal) {
    const name = checkChart(chart.name)
    const tag = chart.version.replaceAll('+', '_')
    const manifest = await images.manifest(repository, { name, tag, accept: manifestType, signal })
    const layers: unknown = Object(manifest).layers
    const layer = Array.isArray(layers) ? layers.find((one) => Object(one).mediaType === chartLayer) : undefined
    const digest: unknown = Object(layer).digest
    if (typeof digest !== 'string') throw new AppError('invalid', `${chart.name}:${chart.version} is no Helm chart.`)
    const archive = await images.blob(repository, { name, digest, maxBytes: mostChartBytes, signal })
    checkDigest(archive, digest, `${chart.name} ${chart.version}`)
    return archive
  }
}
export type ChartRepository = ReturnType<typeof createChartRepository>

/** Throws unless an archive has its digest: with or without `sha256:`, or none. */
function checkDigest(archive: Buffer, digest: string | undefined, chart: string): void {
  if (!digest) return
  const found = createHash('sha256').update(archive).digest('hex')
  if (found === digest.replace(/^sha256:/, '').toLowerCase()) return
  throw new AppError('invalid', `The archive of the chart ${chart} is not the one whose digest its repository names.`)
}

/** In tags "+" is written as "_". */
const versionOf = (tag: string): string => tag.replaceAll('_', '+')

function checkChart(name: string): string {
  if (chartName.test(name)) return name
  throw new AppError('invalid', 'The name of the chart is malformed.')
}

const missing = (repository: Opened, { name, version }: { name: string; version: string }): AppError =>
  new AppError('invalid', `The Helm repository "${repository.name}" has no chart ${name} in version ${version}.`)

import { createHash } from 'node:crypto'
import { type ChartFiles, EngineError, readChartDirectory, readPackedChart } from '../engines/index.ts'
import { GitError, type OwnedRepository } from '../git/index.ts'
import type { Attempt } from '../lib/attempt.ts'
import type { ReleaseRow, ValuesFile } from '../releases/index.ts'
import { repositoryOf } from '../requests/index.ts'
import type { HelmSettings, Repository } from '../services/index.ts'
import { withDependencies } from './chart-dependencies.ts'
import type { Recipe, Work } from './recipe.ts'

/** The commits that a deployment uses. Null: it needs none. */
export type ChartPin = {
  readonly chart: { readonly commit: string; readonly branch: string } | null
  readonly values: string | null
}

/** A chart with the files of values from a repository. */
export interface FetchedChart {
  readonly files: ChartFiles
  readonly values: readonly ValuesFile[]
  /** A hash of both. */
  readonly digest: string
}

/** Resolves the branches of the chart and of its values to commits. Throws EngineError. */
export async function pinChart(
  options: Recipe,
  work: Work,
  settings: HelmSettings,
  signal: AbortSignal,
): Promise<ChartPin> {
  const { wanted_commit: wanted, wanted_values: wantedValues } = work.target
  const { source, values_override } = settings
  const values = values_override.file?.git?.git_repository
  return explained(async () => {
    const head = async (repository: Repository) =>
      options.git.resolveHead(await open(options, work, repository), signal)
    const commitOf = async (repository: Repository, wanted: string) =>
      options.git.resolveCommit(await open(options, work, repository), wanted, signal)
    const chart = 'git_repository' in source ? await head(source.git_repository) : null
    const commit =
      chart && wanted && 'git_repository' in source ? await commitOf(source.git_repository, wanted) : chart?.commit
    return {
      chart: chart && { branch: chart.branch, commit: commit ?? chart.commit },
      values: values ? await (wantedValues ? commitOf(values, wantedValues) : (await head(values)).commit) : null,
    }
  })
}

/** Fetches the chart of a release and its files of values. Throws EngineError. */
export async function fetchChart(
  options: Recipe,
  work: Work,
  release: ReleaseRow & { readonly kind: 'helm' },
  pin: ChartPin,
  attempt: Attempt,
): Promise<FetchedChart> {
  return explained(async () => {
    const files = await withDependencies(options, await fetchFiles(options, work, release, pin, attempt), attempt)
    const values = await fetchValues(options, work, release.settings, pin, attempt)
    return { files, values, digest: digestOf(files, values) }
  })
}

async function fetchFiles(
  options: Recipe,
  work: Work,
  { settings: { source } }: ReleaseRow & { readonly kind: 'helm' },
  pin: ChartPin,
  attempt: Attempt,
): Promise<ChartFiles> {
  const { database, git, fetchChart: fetch } = options
  const { organizationId } = work
  if ('git_repository' in source) {
    const repository = await open(options, work, source.git_repository)
    await using checkout = await git.checkout(repository, pin.chart?.commit ?? '', attempt)
    const path = source.git_repository.root_path.replace(/^\/+/, '')
    return readChartDirectory(await checkout.archive(path, attempt.signal))
  }
  const { repository, chart_name: name, chart_version: version } = source.helm_repository
  if (!fetch) throw new EngineError('refused', 'this installation fetches no charts from Helm repositories')
  return readPackedChart(await fetch(database, organizationId, { repository, name, version }, attempt.signal))
}

async function fetchValues(
  options: Recipe,
  work: Work,
  { values_override: { file } }: HelmSettings,
  pin: ChartPin,
  attempt: Attempt,
): Promise<ValuesFile[]> {
  if (!file?.git || pin.values === null) return []
  const repository = await open(options, work, file.git.git_repository)
  await using checkout = await options.git.checkout(repository, pin.values, attempt)
  const files: ValuesFile[] = []
  for (const path of file.git.paths) {
    const content = await checkout.readFile(path.replace(/^\/+/, ''), attempt.signal)
    if (!content) throw new EngineError('refused', `there is no file "${path}" in the repository of the values`)
    files.push({ name: path, content: textOf(path, content) })
  }
  return files
}

function textOf(path: string, content: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch (cause) {
    throw new EngineError('refused', `the file "${path}" of the values is not UTF-8; save it as UTF-8`, { cause })
  }
}

const open = async (options: Recipe, work: Work, repository: Repository): Promise<OwnedRepository> => {
  const opened = await repositoryOf(options.database, options.readCredential, work.organizationId, repository)
  if (opened.credential) work.report.hide([opened.credential.password])
  return opened
}

/** Nothing is built, so a failure of git is one of the deployment. */
async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof GitError) throw new EngineError('refused', cause.message, { cause })
    throw cause
  }
}

function digestOf(files: ChartFiles, values: readonly ValuesFile[]): string {
  const hash = createHash('sha256')
  const add = (name: string, content: string | Buffer) =>
    hash.update(`${name}\0${Buffer.byteLength(content)}\0`).update(content)
  for (const [path, content] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) add(path, content)
  for (const { name, content } of values) add(`values ${name}`, content)
  return `sha256:${hash.digest('hex')}`
}

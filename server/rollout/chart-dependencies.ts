import { type ChartFiles, EngineError, mostOfChart, readPackedChart } from '../engines/index.ts'
import type { Attempt } from '../lib/attempt.ts'
import { inWorker } from '../lib/in-worker.ts'
import type { DependencyFiles, NeededCharts } from './read-dependencies.ts'
import type { Recipe } from './recipe.ts'

const reader = new URL('read-dependencies.ts', import.meta.url)

/**
 * Adds the charts that a chart names and does not contain, in the versions of its `Chart.lock`.
 * They are part of the frozen chart. Throws EngineError('refused') if they cannot be fetched.
 */
export async function withDependencies(
  { fetchDependency: fetch }: Pick<Recipe, 'fetchDependency'>,
  files: ChartFiles,
  { signal, output }: Attempt,
): Promise<ChartFiles> {
  const argument: DependencyFiles = {
    chart: files.get('Chart.yaml')?.toString() ?? '',
    lock: files.get('Chart.lock')?.toString(),
    present: [...new Set([...files.keys()].flatMap((path) => /^charts\/([^/]+)\//.exec(path)?.[1] ?? []))],
  }
  if (!mayName(argument.chart)) return files
  // The worker returns what the function of that name returns.
  const found = (await inWorker({ module: reader, name: 'readDependencies', argument })) as NeededCharts
  if ('problem' in found) throw new EngineError('refused', `the chart is incomplete: ${found.problem}`)
  if (found.needed.length === 0 || !fetch) return files
  const whole = new Map(files)
  for (const chart of found.needed) {
    output.line(`Fetching the chart ${chart.name} ${chart.version} of ${chart.repository}.`)
    const inner = await readPackedChart(await fetch(chart, signal))
    for (const [path, content] of inner) whole.set(`charts/${chart.name}/${path}`, content)
  }
  const bytes = [...whole.values()].reduce((sum, content) => sum + content.length, 0)
  if (whole.size <= mostOfChart.files && bytes <= mostOfChart.bytes) return whole
  throw new EngineError('refused', 'the chart is too large with the charts that it names; split it')
}

/** Whether a `Chart.yaml` may name others. A key may be written with escapes. */
const mayName = (text: string): boolean => /dependencies|\\/.test(text)

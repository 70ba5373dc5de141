import { OverLimit, type PreparedWorker, prepareWorker } from '../../../lib/in-worker.ts'
import { masker } from '../../../lib/masker.ts'
import { type ChartRelease, EngineError, type RenderedObject } from '../../engine.ts'
import { helmRelease } from './chart-names.ts'
import { refusalOfObjects, withoutKnownKinds } from './check-objects.ts'
import { refusalOfPorts } from './check-ports.ts'
import type { ClusterKinds } from './cluster-kinds.ts'
import type { HelmSession } from './helm-program.ts'
import type { Rendered } from './read-rendered.ts'
import { usesLookup } from './uses-lookup.ts'

/** Rendering has these limits, because templates are programs. */
const most = { ms: 60_000, bytes: 8 * 1024 * 1024, objects: 2_000 } as const

/**
 * Renders a chart with its values and checks its objects. Throws EngineError('refused') with the
 * template or the object that is wrong.
 */
export async function renderChart(
  session: HelmSession,
  release: ChartRelease,
  { kinds, isUpgrade }: { readonly kinds: ClusterKinds; readonly isUpgrade: boolean },
  signal: AbortSignal,
): Promise<readonly RenderedObject[]> {
  const { name, namespace } = helmRelease(release)
  checkFiles(release)
  // It loads while the program renders.
  await using reading = prepareReader()
  for (const [path, content] of release.files) await session.write(`chart/${path}`, content)
  const values = await session.write('values.json', release.values.reveal())
  const args = [
    ...['template', name, 'chart', '--namespace', namespace, '--values', values, '--include-crds'],
    ...['--kube-version', kinds.version],
    ...[...kinds.apiVersions, ...kinds.isNamespaced.keys()].flatMap((one) => ['--api-versions', one]),
    ...(isUpgrade ? ['--is-upgrade'] : []),
  ]
  const limits = { timeoutMs: most.ms, signal, maxBytes: most.bytes + 1 }
  // Templates look up objects with the rights of the account that installs the chart.
  const first = await session.run([...args, '--dry-run=server'], limits)
  // Helm 4 looks for all kinds of a chart, also for those that the chart itself defines. Before its
  // first installation, nothing exists that its templates could look up.
  const lacksKinds = first.exitCode !== 0 && /ensure CRDs are installed first/.test(first.stderr)
  if (lacksKinds && isUpgrade && usesLookup(release)) throw new EngineError('refused', needsDefinitions)
  const { exitCode, stdout, stderr } = lacksKinds ? await session.run([...args, '--dry-run=client'], limits) : first
  const mask = masker(release.secrets)
  if (exitCode !== 0) throw new EngineError('refused', `the chart cannot be rendered: ${mask(saidBy(stderr))}`)
  if (stdout.length > most.bytes) throw tooMuch(`more than ${most.bytes / 1024 ** 2} MiB`)
  const rendered = await readWith(reading, stdout.toString())
  if ('problem' in rendered) throw new EngineError('refused', `the chart is wrong: ${mask(rendered.problem)}`)
  if (rendered.objects.length > most.objects) throw tooMuch(`${rendered.objects.length} objects`)
  const objects = withoutKnownKinds(rendered.objects, kinds)
  const refusal =
    refusalOfObjects(objects, { kinds, namespace, isClusterWide: release.isClusterWide }) ??
    refusalOfPorts(objects, { ports: release.ports, namespace })
  if (refusal) throw new EngineError('refused', mask(refusal))
  if (objects.length === 0) throw new EngineError('refused', 'the chart renders no object with these values')
  return objects
}

const reader = new URL('read-rendered.ts', import.meta.url)

/** A worker reads it, because YAML may take time quadratic in its length. */
const prepareReader = (): PreparedWorker =>
  prepareWorker({ module: reader, name: 'readRendered' }, { limitMs: 30_000, memoryMiB: 1024 })

/** Reads objects that are written as YAML. Throws EngineError if that takes too long. */
export async function readObjects(text: string): Promise<Rendered> {
  await using reading = prepareReader()
  return await readWith(reading, text)
}

async function readWith(reading: PreparedWorker, text: string): Promise<Rendered> {
  try {
    // The worker returns what the function of that name returns.
    return (await reading.run(text)) as Rendered
  } catch (cause) {
    if (cause instanceof OverLimit) throw tooMuch('YAML that takes too long to read', cause)
    throw cause
  }
}

const needsDefinitions =
  'the chart has objects of kinds that it defines itself, and its templates look up objects of the cluster; install ' +
  'its CustomResourceDefinitions by another chart first'

const tooMuch = (what: string, cause?: unknown): EngineError =>
  new EngineError('refused', `the chart renders ${what}; split it into several charts`, { cause })

/** Rejects what `helm` would read from elsewhere. */
function checkFiles({ files }: ChartRelease): void {
  if (!files.has('Chart.yaml')) throw new EngineError('refused', 'there is no Chart.yaml at the root path of the chart')
  for (const [path, content] of files) {
    if (!path.endsWith('values.schema.json')) continue
    const outside = /"\$(?:ref|schema|dynamicRef)"\s*:\s*"(?!#|https?:\/\/json-schema\.org\/)([^"]{0,200})/.exec(
      content.toString(),
    )
    if (!outside) continue
    throw new EngineError(
      'refused',
      `${path} of the chart refers to "${outside[1]}"; only references to itself are read`,
    )
  }
}

/** Returns what the program printed in one line: its beginning and its end if it is long. */
export function saidBy(stderr: string): string {
  const lines = stderr
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^(?:WARNING|level=(?:WARN|INFO) )/.test(line))
  const text = lines.join(' ').replace(/^Error: /, '')
  return text.length <= 2_000 ? text : `${text.slice(0, 1_000)} … ${text.slice(-1_000)}`
}

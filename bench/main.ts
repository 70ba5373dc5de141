import { accepting } from './accepting.ts'
import { changing } from './changing.ts'
import { charting } from './charting.ts'
import { consoleFigures } from './console/console.ts'
import { cron } from './cron.ts'
import { depth } from './depth.ts'
import { environment } from './environment.ts'
import type { Benchmark, Figure } from './figure.ts'
import { frontFigures } from './fronts/fronts.ts'
import { hostile } from './hostile.ts'
import { idling } from './idling.ts'
import { informing } from './informing.ts'
import { kubernetes } from './kubernetes.ts'
import { kubernetesRedeploying } from './kubernetes-redeploying.ts'
import { logging } from './logging.ts'
import { planning } from './planning.ts'
import { reading } from './reading.ts'
import { readingContract } from './reading-contract.ts'
import { records } from './records.ts'
import { redeploying } from './redeploying.ts'
import { resting } from './resting.ts'
import { routeChange } from './route-change.ts'
import { routing } from './routing.ts'
import { scale } from './scale.ts'
import { starting } from './starting.ts'
import { streaming } from './streaming.ts'
import { table } from './table.ts'
import { waking } from './waking.ts'

/**
 * `npm run bench` prints all figures as a table. `-- NAME …` selects some, `-- --json` prints JSON.
 * Progress goes to standard error.
 */
const benchmarks: readonly Benchmark[] = [
  starting,
  changing,
  ...redeploying,
  environment,
  waking,
  cron,
  planning,
  reading,
  readingContract,
  depth,
  accepting,
  routing,
  routeChange,
  ...frontFigures,
  logging,
  hostile,
  streaming,
  resting,
  idling,
  records,
  scale,
  kubernetes,
  ...kubernetesRedeploying,
  charting,
  informing,
  ...consoleFigures,
]

const known = benchmarks.flatMap(({ figures, group }) => [...figures, ...(group ? [group] : [])])
const asked = process.argv.slice(2).filter((argument) => argument !== '--json')
const asJson = process.argv.includes('--json')
const unknown = asked.filter((name) => !known.includes(name))
if (unknown.length > 0) {
  console.error(`Unknown figure "${unknown[0]}". Choose among ${known.join(', ')}.`)
  process.exit(2)
}

const say = (line: string): void => console.error(line)
const results: Figure[] = []
const failed: string[] = []
let current: AsyncDisposableStack | undefined
let isEnding = false
/** Removes what the current figure has started. The figure then fails, and no other one begins. */
const end = (code: number): void => {
  isEnding = true
  void Promise.resolve(current?.disposeAsync()).finally(() => process.exit(code))
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end(130))
// An unhandled error would skip the cleanup and leave containers and processes running.
process.once('uncaughtException', (error) => {
  console.error(error)
  end(1)
})
for (const { figures, group = '', measure } of benchmarks) {
  const wanted = figures.filter((name) => asked.length === 0 || asked.includes(name) || asked.includes(group))
  if (wanted.length === 0) continue
  if (isEnding) break
  say(`Measuring ${wanted.join(', ')} …`)
  const measured = await measureOne(measure).catch((error: unknown) => {
    // The previous figures took many minutes, and the next ones do not depend on this one.
    console.error(error)
    failed.push(...wanted)
    return []
  })
  const shown = measured.filter(({ name }) => wanted.includes(name))
  if (shown.length > 0) say(table(shown))
  results.push(...shown)
}
console.log(asJson ? JSON.stringify(results, null, 2) : table(results, failed))
if (failed.length > 0) {
  if (asJson) console.error(`Not measured because of an error: ${failed.join(', ')}.`)
  process.exitCode = 1
}

async function measureOne(measure: Benchmark['measure']): Promise<Figure[]> {
  await using ending = new AsyncDisposableStack()
  current = ending
  return await measure({ ending, say })
}

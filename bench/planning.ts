import { WebSocket } from 'ws'
import { systemClock as clock } from '../server/lib/clock.ts'
import { provideRunnerImage } from '../test/support/stack.ts'
import { absolute, atMost, type Benchmark, type Figure, relative, type Session } from './figure.ts'
import { type Applied, applyBare } from './floors/plan.ts'
import { createInstallation, type Installation } from './installation.ts'
import { compare, paired, quantile } from './paired.ts'
import { createStack, type Stack } from './stack.ts'
import { until } from './until.ts'

const rounds = 9
const lines = 60

/** Sources by figure. Their resources need no provider from outside. */
const sources: Readonly<Record<string, string>> = {
  'stack-plan': 'resource "terraform_data" "one" { input = "one" }\n',
  'stack-plan-1000': 'resource "terraform_data" "many" {\n  count = 1000\n  input = count.index\n}\n',
}

/** The figure of the floor in the network that all containers share (ADR 0105). */
const sharedOf = (name: string): string => `${name}-shared`

/** Each deployment replaces its resource, which prints the time in seconds, 20 times a second. */
const printing = `
resource "terraform_data" "lines" {
  triggers_replace = timestamp()
  provisioner "local-exec" {
    command = "for n in $(seq ${lines}); do echo \\"at=$(date +%s.%N)\\"; sleep 0.05; done"
  }
}
`

/**
 * Measures deployments of stacks without changes against `init` and `plan` in one container by
 * hand, and the time of a line of a run until a client of the log has it. Prints why it does not
 * run if this machine has no OpenTofu.
 */
export const planning: Benchmark = {
  figures: [...Object.keys(sources).flatMap((name) => [name, sharedOf(name)]), 'stack-line'],
  async measure(session) {
    const runner = await provideRunnerImage('opentofu')
    if (runner === undefined) {
      session.say('  not measured: build OpenTofu first (node test/support/opentofu/build.ts)')
      return []
    }
    const installation = await createInstallation(session, { QUAYSIDE_OPENTOFU_IMAGE: runner })
    await installation.start()
    const version = runner.split(':').at(-1) ?? ''
    const figures: Figure[] = []
    for (const [name, source] of Object.entries(sources)) {
      const applied = await applyBare(runner, name, source)
      session.ending.defer(() => applied.remove())
      const stack = await createStack(session, installation, { name, version, source })
      figures.push(...(await measurePlan(session, name, stack, applied)))
    }
    const stack = await createStack(session, installation, { name: 'stack-line', version, source: printing })
    const delays = await measureLines(session, installation, stack)
    return [...figures, absolute('stack-line', quantile(delays, 0.99), 'ms p99', atMost(500))]
  },
}

async function measurePlan({ say }: Session, name: string, stack: Stack, floor: Applied): Promise<Figure[]> {
  const shared: number[] = []
  const rows: { planned: number }[] = []
  const { planned } = await paired(
    rounds,
    async () => {
      shared.push(await floor.plan())
      return floor.planApart()
    },
    async () => {
      const startedAt = clock.monotonic()
      await stack.deploy()
      const row = { planned: clock.monotonic() - startedAt }
      say(`  planned after ${row.planned.toFixed(0)} ms`)
      rows.push(row)
      return row
    },
  )
  return [
    relative(name, planned, 'ms', atMost(1.3)),
    relative(sharedOf(name), compare(shared, rows).planned, 'ms', atMost(1.6)),
  ]
}

/** Returns the milliseconds from the print of each line to its arrival at a client. */
async function measureLines(session: Session, installation: Installation, stack: Stack): Promise<number[]> {
  const socket = new WebSocket(`ws://127.0.0.1:${installation.port}/service/logs?${stack.query}&limit=0`, {
    headers: { authorization: `Bearer ${await installation.token()}` },
  })
  session.ending.defer(async () => socket.terminate())
  const startedAt = Date.now()
  const delays: number[] = []
  socket.on('message', (data) => {
    const printedAt = Number(/at=(\d+\.\d+)/.exec(String(data))?.[1]) * 1000
    // The first deployment printed lines too.
    if (printedAt > startedAt) delays.push(Date.now() - printedAt)
  })
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  await stack.deploy()
  await until('every line has arrived', () => delays.length === lines, { limitMs: 10_000 })
  session.say(`  a client has a line of a run after ${quantile(delays, 0.5).toFixed(0)} ms (median)`)
  return delays
}

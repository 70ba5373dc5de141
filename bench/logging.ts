import { absolute, atLeast, atMost, type Benchmark } from './figure.ts'
import { measureLogs } from './logs.ts'
import { median } from './paired.ts'

/** Measures the log store: reading the last lines, and appending. */
export const logging: Benchmark = {
  figures: ['log-tail', 'log-collect'],
  async measure({ say }) {
    const { tailMs, linesPerSecond, followMs, grownMiB } = await measureLogs()
    say(
      `  slowest tail ${Math.max(...tailMs).toFixed(1)} ms; a follower receives a line after ` +
        `${median(followMs).toFixed(2)} ms`,
    )
    say(`  memory grew by ${grownMiB.tenMillion.toFixed(0)} MiB while 10 million lines were stored`)
    return [
      absolute('log-tail', median(tailMs), 'ms', atMost(20)),
      absolute('log-collect', median(linesPerSecond), 'lines/s', atLeast(100_000)),
    ]
  },
}

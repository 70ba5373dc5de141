import { readConfigOrDefaults, unknownSettings } from '../config.ts'
import { examine, type Finding, gatherFacts } from '../doctor/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { takeServerLock } from './data-directory.ts'
import { StartError, toStartError } from './start-error.ts'

/**
 * `npm run doctor`: checks the machine and prints a line for each check, or a list with `--
 * --json`. Exits with 1 if a check failed.
 */
async function main(options: readonly string[]): Promise<void> {
  const foreign = options.filter((word) => word !== '--json')
  if (foreign.length > 0) throw new StartError(`There is no option ${foreign.join(' ')}. Use none, or --json.`)
  const { config: settings, problem: settingsProblem } = readConfigOrDefaults()
  const lock = await takeServerLock(settings)
  lock?.close()
  const findings = examine(
    await gatherFacts({
      settings,
      clock,
      settingsProblem,
      unknownSettings: unknownSettings(),
      isRunning: lock === undefined,
    }),
  )
  if (options.includes('--json')) console.log(JSON.stringify(findings, undefined, 2))
  else for (const finding of findings) console.log(lineOf(finding))
  if (findings.some(({ status }) => status === 'fail')) process.exitCode = 1
}

const lineOf = ({ check, status, message, remedy }: Finding): string =>
  `${status.padEnd(5)} ${check.padEnd(15)} ${message}${remedy === undefined ? '' : ` ${remedy}`}`

await main(process.argv.slice(2)).catch((error: unknown) => {
  const known = toStartError(error)
  console.error(known.message)
  if (known.cause !== undefined && !(known instanceof StartError && known.isExpected)) console.error(known.cause)
  process.exit(1)
})

import { run } from '../../server/lib/run.ts'

const chosen = process.env['QUAYSIDE_TEST_HAPROXY']

/** The HAProxy of tests and benchmarks, as a name or a path: Debian's package unless one is set. */
export const haproxy = chosen || 'haproxy'

/**
 * Returns why tests with HAProxy are skipped. Undefined if this machine has it. Throws if
 * `QUAYSIDE_TEST_HAPROXY` names a program that does not run.
 */
export async function missingHaproxy(): Promise<string | undefined> {
  const missing = await run(haproxy, ['-v'], { timeoutMs: 10_000 }).then(
    ({ exitCode }) => (exitCode === 0 ? undefined : 'this HAProxy does not run'),
    () => 'this machine has no HAProxy (apt-get install haproxy)',
  )
  if (missing === undefined || !chosen) return missing
  throw new Error(`${chosen} does not run. Set QUAYSIDE_TEST_HAPROXY to the program HAProxy, or unset it.`)
}

/** Returns whether the program of the tests has this version or a later one. */
export async function isHaproxySince(major: number, minor = 0): Promise<boolean> {
  const { stdout } = await run(haproxy, ['-v'], { timeoutMs: 10_000 })
  const [, first, second] = /^HAProxy version (\d+)\.(\d+)/.exec(stdout.toString()) ?? []
  return Number(first) > major || (Number(first) === major && Number(second) >= minor)
}

import { run } from '../../server/lib/run.ts'

/** The program of the tests. By default the one of this machine. */
export const haproxy = process.env.QUAYSIDE_TEST_HAPROXY ?? 'haproxy'

/** Returns why tests with HAProxy are skipped. Undefined if this machine has it. */
export const missingHaproxy = (): Promise<string | undefined> =>
  run(haproxy, ['-v'], { timeoutMs: 10_000 }).then(
    ({ exitCode }) => (exitCode === 0 ? undefined : 'this HAProxy does not run'),
    () => 'this machine has no HAProxy (apt-get install haproxy)',
  )

/** Returns whether the program of the tests has this version or a later one. */
export async function isHaproxySince(major: number, minor = 0): Promise<boolean> {
  const { stdout } = await run(haproxy, ['-v'], { timeoutMs: 10_000 })
  const [, first, second] = /^HAProxy version (\d+)\.(\d+)/.exec(stdout.toString()) ?? []
  return Number(first) > major || (Number(first) === major && Number(second) >= minor)
}

import { run } from '../../server/lib/run.ts'

/** The program of the tests: Debian's package `haproxy`. */
export const haproxy = 'haproxy'

/** Returns why tests with HAProxy are skipped. Undefined if this machine has it. */
export const missingHaproxy = (): Promise<string | undefined> =>
  run(haproxy, ['-v'], { timeoutMs: 10_000 }).then(
    ({ exitCode }) => (exitCode === 0 ? undefined : 'this HAProxy does not run'),
    () => 'this machine has no HAProxy (apt-get install haproxy)',
  )

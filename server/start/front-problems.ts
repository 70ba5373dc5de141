import type { Config } from '../config.ts'
import { checkHaproxy, gatherHaproxy } from '../doctor/index.ts'

/**
 * Returns what keeps HAProxy from running in front of the router, with what to do, as lines for
 * people. The server starts all the same: the router serves alone, also if HAProxy was removed
 * later.
 */
export async function frontProblems(config: Pick<Config, 'haproxy' | 'dockerSocket'>): Promise<readonly string[]> {
  const { status, message, remedy = '' } = checkHaproxy(await gatherHaproxy(config))
  return status === 'ok' ? [] : [`${message} ${remedy}`]
}

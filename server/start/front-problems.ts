import {
  checkHaproxy,
  checkHttp3,
  gatherHaproxy,
  type HaproxySettings,
  type Http3Settings,
  http3Wishes,
} from '../doctor/index.ts'

/**
 * Returns what keeps HAProxy from running in front of the router, or from serving HTTP/3, with what
 * to do, as lines for people. The server starts all the same: the router serves alone, also if
 * HAProxy was removed later.
 */
export async function frontProblems(config: HaproxySettings & Http3Settings): Promise<readonly string[]> {
  const haproxy = await gatherHaproxy(config)
  const outcomes = [checkHaproxy(haproxy), checkHttp3({ haproxy, http3: http3Wishes(config) })]
  return outcomes.flatMap(({ status, message, remedy = '' }) => (status === 'ok' ? [] : [`${message} ${remedy}`]))
}

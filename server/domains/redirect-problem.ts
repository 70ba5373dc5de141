import type { SettingValues } from '@quayside/contract/services/setting-table.ts'
import type { Sql } from '../database/index.ts'
import type { PublicAddress } from './links.ts'
import { redirectLoop } from './redirect-loops.ts'
import { listHostPaths } from './redirect-store.ts'
import { redirectsOf, redirectsSetting } from './visitor-readers.ts'

const mostShown = 4

/**
 * Returns why new redirects of a service are rejected: they lead a client from one of its paths to
 * the next without end. Undefined if they do not, or if they are stored already.
 */
export async function redirectProblem(
  sql: Sql,
  serviceId: string,
  { sent, stored }: { readonly sent: SettingValues; readonly stored: SettingValues },
  { plain, tlsPort, proxyTlsPort }: PublicAddress,
): Promise<string | undefined> {
  const value = sent[redirectsSetting]
  if (value === undefined || value === stored[redirectsSetting]) return undefined
  const rules = redirectsOf(value)
  if (rules.length === 0) return undefined
  const ports = [plain.port, proxyTlsPort, ...(tlsPort === undefined ? [] : [tlsPort])]
  const trail = redirectLoop(rules, await listHostPaths(sql, serviceId), ports)
  if (trail === undefined) return undefined
  const isOneHost = new Set(trail.map((one) => new URL(one).host)).size === 1
  const shown = trail.slice(0, mostShown).map((one) => (isOneHost ? pathOf(new URL(one)) : one))
  return `${redirectsSetting}: a client would be redirected without end: ${shown.join(' to ')} and so on.`
}

const pathOf = ({ pathname, search }: URL): string => pathname + search

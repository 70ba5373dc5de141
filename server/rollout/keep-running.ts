import type { Endpoint, Release } from '../engines/index.ts'
import { judge, liveEndpoints, mostReplicasOf } from '../observations/index.ts'
import { changesOf, engineRelease, findRelease, passwordsIn, type ReleaseRow } from '../releases/index.ts'
import { findScale } from '../scaling/index.ts'
import { type Recipe, type Work, whileUnreachable } from './recipe.ts'

/** The release that has the traffic, with its endpoints. */
export interface Kept {
  readonly release: string
  readonly endpoints: Endpoint[]
}

/**
 * Returns the running release (`serving`) if it is healthy and starting the new one would change
 * nothing. Otherwise undefined, and the log says why. Only deployments keep the running release: a
 * restart must start one.
 */
export async function keepRunning(
  options: Recipe,
  work: Work,
  { row, next, serving }: { readonly row: ReleaseRow; readonly next: Release; readonly serving: string | null },
  signal: AbortSignal,
): Promise<Kept | undefined> {
  if (work.request.action !== 'DEPLOY' || next.workload.shape !== 'long-running') return undefined
  const former = serving === null ? undefined : await findRelease(options.database, serving)
  if (!former?.image || former.id === row.id) return undefined
  const { release: running } = await engineRelease(options, work.organizationId, former)
  const changes = changesOf(
    { workload: running.workload, digest: former.image.digest, passwordsIn: passwordsIn(former) },
    { workload: next.workload, digest: row.image?.digest ?? '', passwordsIn: passwordsIn(row) },
  )
  if (changes.length > 0) {
    work.report.line(`Changed since the running version: ${listed(changes)}.`)
    return undefined
  }
  const endpoints = await healthyEndpoints(
    options,
    work,
    { ...former, replicas: running.workload.replicas.min, may_scale: running.workload.targets !== undefined },
    signal,
  )
  if (!endpoints) {
    const isAsleep = (await findScale(options.database, row.service_id)) === 0
    const why = isAsleep ? 'it sleeps and is started to check its health' : 'the running version is not healthy'
    work.report.line(`Nothing changed, but ${why}.`)
  }
  return endpoints && { release: former.id, endpoints }
}

/** Returns undefined unless every replica is up. */
async function healthyEndpoints(
  options: Recipe,
  { report }: Work,
  running: Pick<ReleaseRow, 'id' | 'service_id'> & { readonly replicas: number; readonly may_scale: boolean },
  signal: AbortSignal,
): Promise<Endpoint[] | undefined> {
  const { engine } = options
  const wish = { ...running, release_id: running.id }
  const seen = await whileUnreachable(options, signal, report, () => engine.observe(running.service_id, signal))
  const judged = judge(wish, seen)
  if (judged.state !== 'running' || judged.release !== running.id) return undefined
  return liveEndpoints(running.id, judged, mostReplicasOf(wish, engine.capabilities))
}

const mostListed = 10
const listed = (names: readonly string[]): string =>
  names.length > mostListed
    ? `${names.slice(0, mostListed).join(', ')} and ${names.length - mostListed} more`
    : names.join(', ')

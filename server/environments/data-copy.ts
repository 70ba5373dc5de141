import type { Database } from '../database/index.ts'
import type { Attempt } from '../lib/attempt.ts'
import type { Clock } from '../lib/clock.ts'
import { failpoint } from '../lib/failpoint.ts'
import type { Logger } from '../lib/log.ts'
import { findService, type ServiceRow } from '../services/index.ts'
import type { Step } from '../workflows/index.ts'

/** The volumes of one service and those of its copy, by the ids under which an engine knows them. */
export interface ServiceData {
  readonly source: string
  readonly service: string
  readonly environment: string
  readonly volumes: { readonly from: string; readonly to: string }[]
  /** The program of the source that prints what its one volume holds; empty where there is none. */
  readonly archiveCommand: string[]
  readonly [key: string]: string | string[] | { readonly from: string; readonly to: string }[]
}

export interface DataCopyOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
  /** The ids of the volumes of a service, by the paths at which they are mounted. */
  readonly volumesOf: (service: ServiceRow) => ReadonlyMap<string, string>
  /** Copies volumes as they are at one moment; gives bytes. */
  readonly copyVolumes: (data: ServiceData, attempt: Attempt) => Promise<number>
  readonly archiveCommandOf: (service: ServiceRow) => readonly string[] | undefined
  /** Removes every volume of a service of which nothing runs. */
  readonly eraseVolumes: (service: string, attempt: Attempt) => Promise<void>
}

/** Which volume of a copy is made from which; volumes of a service are told by where they are mounted. */
export function dataOf(
  { volumesOf, archiveCommandOf }: Pick<DataCopyOptions, 'volumesOf' | 'archiveCommandOf'>,
  from: ServiceRow,
  to: ServiceRow,
): ServiceData {
  const made = volumesOf(to)
  const volumes = [...volumesOf(from)].flatMap(([path, id]) => {
    const copy = made.get(path)
    return copy === undefined ? [] : [{ from: id, to: copy }]
  })
  const archiveCommand = [...(archiveCommandOf(from) ?? [])]
  return { source: from.id, service: to.id, environment: to.environment_id, volumes, archiveCommand }
}

/** As long as a volume takes: whoever does not want to wait deletes the copy. */
const deadlineSeconds = 24 * 3600

/**
 * Copies the data of services, one after the other; each is a step. False when the copy that it is made for was deleted: then its
 * volumes are gone again, too. Throws with the reason where something cannot be copied.
 */
export async function copyData(
  options: DataCopyOptions,
  planned: readonly ServiceData[],
  step: Step,
  exists: () => Promise<boolean>,
): Promise<boolean> {
  for (const data of planned) {
    await step(`${data.service}/DATA`, ({ signal }) => copyOne(options, data, exists, signal), { deadlineSeconds })
  }
  failpoint('copy.ended')
  return exists()
}

/** Removes the volumes of copies that are not wanted any more. */
export async function eraseData(options: DataCopyOptions, services: readonly string[], step: Step): Promise<void> {
  const erase = async ({ signal }: { readonly signal: AbortSignal }): Promise<void> => {
    for (const service of services)
      await options.eraseVolumes(service, { signal, output: outputOf(options, { service }) })
  }
  await step('ERASE', erase, { evenIfCanceled: true })
}

async function copyOne(
  options: DataCopyOptions,
  data: ServiceData,
  exists: () => Promise<boolean>,
  outer: AbortSignal,
): Promise<void> {
  const { service, source } = data
  const gone = new AbortController()
  const watching = new AbortController()
  const watched = abortWhenGone(options.clock, exists, gone, watching.signal)
  const signal = AbortSignal.any([outer, gone.signal])
  try {
    if (!(await exists())) return
    const output = outputOf(options, { service, source })
    const bytes = await options.copyVolumes(data, { signal, output })
    if (!(await findService(options.database, source)))
      throw new Error('the service was deleted while its data were copied')
    options.log.info({ service, source, bytes }, 'the data of a service were copied')
  } catch (error) {
    // Its end is the end of the copy, and no failure.
    if (!gone.signal.aborted) throw error
  } finally {
    watching.abort()
    await watched
  }
}

async function abortWhenGone(
  clock: Clock,
  exists: () => Promise<boolean>,
  gone: AbortController,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const ended = await clock.sleep(1000, signal).then(
      () => false,
      () => true,
    )
    if (ended) return
    // A database that is away says nothing of the copy.
    if (!(await exists().catch(() => true))) return gone.abort(new Error('the copy was deleted'))
  }
}

const outputOf = ({ log }: DataCopyOptions, about: object): Attempt['output'] => ({
  line: (text, level) => log[level === 'warning' ? 'warn' : (level ?? 'info')](about, text),
})

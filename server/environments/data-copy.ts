import type { Database } from '../database/index.ts'
import type { Attempt } from '../lib/attempt.ts'
import type { Clock } from '../lib/clock.ts'
import { failpoint } from '../lib/failpoint.ts'
import type { Logger } from '../lib/log.ts'
import { findService, type ServiceRow } from '../services/index.ts'
import type { Step } from '../workflows/index.ts'
import { setCopiedBytes } from './copy-record-store.ts'

/** The volumes of a service and of its copy, by their ids on the engine. */
export interface ServiceData {
  readonly source: string
  readonly service: string
  readonly environment: string
  readonly volumes: VolumePair[]
  /** The source's command that prints the contents of its one volume. Empty when it has none. */
  readonly archiveCommand: string[]
  readonly [key: string]: string | string[] | VolumePair[]
}

/** A volume, and its copy with the size of the copy's storage. */
type VolumePair = { readonly from: string; readonly to: string; readonly sizeGiB: number }

/** Copies and removes volumes on engines. */
export interface VolumeCopier {
  /** Copies volumes as of one moment. Reports the bytes copied so far and returns their total. */
  readonly copyVolumes: (
    data: readonly ServiceData[],
    tell: (bytes: number) => void,
    attempt: Attempt,
  ) => Promise<number>
  /** Removes every volume of a service. None of its containers may run. */
  readonly eraseVolumes: (service: string, attempt: Attempt) => Promise<void>
}

export interface DataCopyOptions extends VolumeCopier {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
  /** Returns a service's volumes by mount path. */
  readonly volumesOf: (service: ServiceRow) => ReadonlyMap<string, { readonly id: string; readonly sizeGiB: number }>
  readonly archiveCommandOf: (service: ServiceRow) => readonly string[] | undefined
}

/** Pairs the volumes of a service with those of its copy by mount path. */
export function dataOf(
  { volumesOf, archiveCommandOf }: Pick<DataCopyOptions, 'volumesOf' | 'archiveCommandOf'>,
  from: ServiceRow,
  to: ServiceRow,
): ServiceData {
  const made = volumesOf(to)
  const volumes = [...volumesOf(from)].flatMap(([path, { id }]) => {
    const copy = made.get(path)
    return copy === undefined ? [] : [{ from: id, to: copy.id, sizeGiB: copy.sizeGiB }]
  })
  const archiveCommand = [...(archiveCommandOf(from) ?? [])]
  return { source: from.id, service: to.id, environment: to.environment_id, volumes, archiveCommand }
}

/** Large volumes take long. A user who does not want to wait deletes the copy. */
const deadlineSeconds = 24 * 3600

/**
 * Copies the data of services as of one moment. False when the copy was deleted meanwhile. Throws
 * with the reason if the data cannot be copied.
 */
export async function copyData(
  options: DataCopyOptions,
  planned: readonly ServiceData[],
  step: Step,
  copy: CopyInProgress,
): Promise<boolean> {
  await step('DATA', ({ signal }) => copyAll(options, planned, copy, signal), { deadlineSeconds })
  failpoint('copy.ended')
  return copy.exists()
}

/** The copy that the data belongs to. */
export interface CopyInProgress {
  readonly id: string
  readonly exists: () => Promise<boolean>
}

/** Removes the volumes of cancelled copies. */
export async function eraseData(options: DataCopyOptions, services: readonly string[], step: Step): Promise<void> {
  const erase = async ({ signal }: { readonly signal: AbortSignal }): Promise<void> => {
    for (const service of services)
      await options.eraseVolumes(service, { signal, output: outputOf(options, { service }) })
  }
  await step('ERASE', erase, { evenIfCanceled: true })
}

async function copyAll(
  options: DataCopyOptions,
  planned: readonly ServiceData[],
  copy: CopyInProgress,
  outer: AbortSignal,
): Promise<void> {
  const { database, log } = options
  const gone = new AbortController()
  const watching = new AbortController()
  let bytes = 0
  const watched = watch(options, copy, gone, () => bytes, watching.signal)
  const signal = AbortSignal.any([outer, gone.signal])
  const tell = (copied: number): void => {
    bytes = copied
  }
  try {
    if (!(await copy.exists())) return
    bytes = await options.copyVolumes(planned, tell, { signal, output: outputOf(options, { copy: copy.id }) })
    for (const { source } of planned) {
      if (!(await findService(database, source))) throw new Error('a service was deleted while its data was copied')
    }
    await setCopiedBytes(database, copy.id, bytes)
    log.info({ copy: copy.id, services: planned.length, bytes }, 'copied the data')
  } catch (error) {
    // The copy was deleted, so the copying was aborted on purpose.
    if (!gone.signal.aborted) throw error
  } finally {
    watching.abort()
    await watched
  }
}

/** Stores the progress once a second, and aborts the copying if the copy was deleted. */
async function watch(
  { clock, database, log }: DataCopyOptions,
  { id, exists }: CopyInProgress,
  gone: AbortController,
  bytes: () => number,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const ended = await clock.sleep(1000, signal).then(
      () => false,
      () => true,
    )
    if (ended) return
    try {
      if (!(await exists())) return gone.abort(new Error('the copy was deleted'))
      await setCopiedBytes(database, id, bytes())
    } catch (error) {
      // An unreachable database does not mean that the copy was deleted.
      log.warn({ err: error, copy: id }, 'the progress of a copy could not be stored; the copy continues')
    }
  }
}

const outputOf = ({ log }: DataCopyOptions, about: object): Attempt['output'] => ({
  line: (text, level) => log[level === 'warning' ? 'warn' : (level ?? 'info')](about, text),
})

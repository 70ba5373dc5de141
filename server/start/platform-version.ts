import { readFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { PlatformVersion } from '../database/index.ts'
import { run } from '../lib/run.ts'
import { replaceText } from './replace-text.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Returns the version of the files of this process. It has no commit if the files are not a
 * checkout of their own, or git is missing.
 */
export async function platformVersion(): Promise<PlatformVersion> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
  // This only reads, so a checkout of another user is safe.
  const args = ['-c', 'safe.directory=*', 'rev-parse', '--show-toplevel', 'HEAD']
  const { exitCode, stdout } = await run('git', args, { cwd: root, timeoutMs: 10_000 }).catch(() => missing)
  const [top = '', commit] = stdout.toString().split('\n')
  return exitCode === 0 && commit && top === (await realpath(root)) ? { version, commit } : { version }
}

const missing = { exitCode: 127, stdout: Buffer.from('') }

/**
 * The current and the previous version of a data directory: the file `version.json`.
 * bootstrap/rollback-upgrade.mjs reads it too.
 */
export interface VersionRecord extends PlatformVersion {
  /** The time of its first start. */
  readonly since: string
  readonly former: PlatformVersion | null
}

const file = (dataDirectory: string): string => join(dataDirectory, 'version.json')

/** Returns the stored versions. Undefined if there are none, or the file is unreadable. */
export async function readVersionRecord(dataDirectory: string): Promise<VersionRecord | undefined> {
  const text = await readFile(file(dataDirectory), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  return text === undefined ? undefined : (JSON.parse(text) as VersionRecord)
}

/**
 * Pure: returns what to store once this version has migrated the schema. Undefined if it is stored
 * already.
 */
export function nextRecord(
  known: VersionRecord | undefined,
  present: PlatformVersion,
  now: Date,
): VersionRecord | undefined {
  if (known?.version === present.version && known.commit === present.commit) return undefined
  const { version, commit } = known ?? {}
  const former = version === undefined ? null : { version, ...(commit === undefined ? {} : { commit }) }
  return { ...present, since: now.toISOString(), former }
}

/** Stores that this version runs on the data directory. */
export async function recordVersion(dataDirectory: string, now: Date): Promise<void> {
  const next = nextRecord(await readVersionRecord(dataDirectory), await platformVersion(), now)
  if (!next) return
  await replaceText(file(dataDirectory), `${JSON.stringify(next, undefined, 2)}\n`)
}

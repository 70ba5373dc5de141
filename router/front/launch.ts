import type { ChildProcess } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import type { ServedCertificate } from '../certificates.ts'
import { describe, type Log } from '../log.ts'
import type { Configuration } from './configuration.ts'
import type { FrontFiles } from './front-files.ts'
import { writeKeyFiles } from './key-files.ts'
import { emptyMaps } from './maps.ts'
import { type Running, StartFailure, startHaproxy } from './start-haproxy.ts'
import type { TlsStore } from './tls-store.ts'

export interface LaunchOptions {
  readonly program: string
  readonly files: FrontFiles
  readonly configuration: Configuration
  readonly store: TlsStore
  readonly log: Log
  /** Called with each process as soon as it exists. */
  spawned(child: ChildProcess): void
  /** Whether HAProxy must not start any more. */
  isOver(): boolean
}

/**
 * Starts HAProxy with certificates, which it reads from a RAM disk before it listens. Its maps are
 * empty, so it hands all requests to the router until it gets the current lines. A certificate that
 * it refuses is left out. Throws StartFailure if it does not start. Undefined if it is over.
 */
export async function launch(
  options: LaunchOptions,
  certificates: readonly ServedCertificate[],
): Promise<Running | undefined> {
  const { files, store, log } = options
  await emptyMaps(files)
  const keys = certificates.length > 0 ? await writeKeyFiles(certificates, files.folder) : undefined
  try {
    for (;;) {
      const names = keys ? store.forStart([...keys.lines.keys()]) : []
      await writeFile(files.certificates, names.map((name) => keys?.lines.get(name) ?? '').join(''), { mode: 0o600 })
      if (options.isOver()) return undefined
      try {
        return await startHaproxy({ ...options, certificates: names.length })
      } catch (error) {
        const refused = error instanceof StartFailure ? refusedName(error.said, names) : undefined
        if (refused === undefined || options.isOver()) throw error
        log.warn('HAProxy starts without a certificate that it refuses', { error: describe(error) })
        store.noteRefused(names, refused)
      }
    }
  } finally {
    await keys?.remove()
  }
}

/** Returns the certificate of which HAProxy's message says that it cannot be used. */
export function refusedName(said: string, names: readonly string[]): string | undefined {
  const alerts = messagesOf(said).filter((message) => message.startsWith('[ALERT]'))
  return names.find((name) => alerts.some((message) => message.includes(`/${name}`)))
}

/** Returns the messages of HAProxy. Since 3.0, one may have several lines, indented. */
function messagesOf(said: string): readonly string[] {
  const messages: string[][] = []
  for (const line of said.split('\n')) {
    if (line.startsWith(' ')) messages.at(-1)?.push(line)
    else messages.push([line])
  }
  return messages.map((lines) => lines.join('\n'))
}

import { mkdir } from 'node:fs/promises'
import { basename } from 'node:path'
import { parseId } from '../lib/id.ts'
import { run } from '../lib/run.ts'

/** Timeout of measuring all repositories of all organizations. */
const measureMs = 5 * 60_000

/** Returns the bytes on disk of each organization's repositories. */
export async function repositorySizes(directory: string, signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const args = ['-k', '-x', '--max-depth=1', '--', directory]
  // Files of a push that ends meanwhile disappear during the measurement, which du reports by its
  // exit code.
  const { stdout } = await run('du', args, { signal, timeoutMs: measureMs, stdin: '' })
  return readSizes(stdout.toString())
}

/** Parses the lines of du that name an organization. */
export function readSizes(output: string): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>()
  for (const line of output.split('\n')) {
    const tab = line.indexOf('\t')
    const id = tab === -1 ? undefined : parseId(basename(line.slice(tab + 1)))
    if (id !== undefined) sizes.set(id, Number.parseInt(line, 10) * 1024)
  }
  return sizes
}

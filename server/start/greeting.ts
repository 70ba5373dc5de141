import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { type FirstStart, tokenFile } from './first-start.ts'
import { writePrivate } from './private-file.ts'

/**
 * Returns the last lines of a start: its addresses, and how to sign in. Only a terminal gets the
 * token and the link of the first account. What is written elsewhere becomes a log that others may
 * read, so that it gets the files that hold them.
 */
export async function greeting(
  config: Pick<Config, 'dataDirectory' | 'publicUrl'>,
  first: FirstStart | undefined,
  link: string | undefined,
  isTerminal = process.stdout.isTTY,
): Promise<string[]> {
  const linkFile = join(config.dataDirectory, 'account-link')
  if (link === undefined || isTerminal) await rm(linkFile, { force: true })
  else await writePrivate(linkFile, link)
  const token = (isTerminal && first?.token) || `in ${tokenFile(config)}`
  return [
    '',
    `API          ${config.publicUrl}`,
    `Token        ${token}`,
    ...(link === undefined ? [] : [`Account      ${isTerminal ? link : `in ${linkFile}`} (valid once, for 24 hours)`]),
    ...(first?.url === undefined ? [] : [`Application  ${first.url}`]),
    ...(first?.problem === undefined ? [] : [first.problem]),
    '',
    'Ready.',
  ]
}

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { type FirstStart, tokenFile } from './first-start.ts'
import { writePrivate } from './private-file.ts'

/** The results of a start. */
export interface Results {
  readonly first?: FirstStart | undefined
  /** The link of the first account. Undefined if somebody owns the organization. */
  readonly link?: string | undefined
  /** Lines about parts that do not work, with the remedy. */
  readonly problems?: readonly string[]
}

/**
 * Returns the last lines of a start: its addresses, and how to sign in. Only a terminal shows the
 * token and the link of the first account. Other output may become a log that others read, so it
 * names the files with the token and the link.
 */
export async function greeting(
  config: Pick<Config, 'dataDirectory' | 'publicUrl'>,
  { first, link, problems = [] }: Results,
  isTerminal = process.stdout.isTTY,
): Promise<string[]> {
  const linkFile = join(config.dataDirectory, 'account-link')
  if (link === undefined || isTerminal) await rm(linkFile, { force: true })
  else await writePrivate(linkFile, link)
  const token = (isTerminal && first?.token) || `in ${tokenFile(config)}`
  return [
    '',
    `Console      ${config.publicUrl}/`,
    `API          ${config.publicUrl}`,
    `Token        ${token}`,
    ...(link === undefined ? [] : [`Account      ${isTerminal ? link : `in ${linkFile}`} (valid once, for 24 hours)`]),
    ...(first?.url === undefined ? [] : [`Application  ${first.url}`]),
    ...(first?.problem === undefined ? [] : [first.problem]),
    ...problems,
    '',
    'Ready.',
  ]
}

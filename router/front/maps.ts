import { mkdir, writeFile } from 'node:fs/promises'
import { changeFront } from './admin-socket.ts'
import type { FrontSettings } from './configuration.ts'
import type { FrontFiles } from './front-files.ts'
import { mapNames } from './hot-routes.ts'
import type { HotHosts } from './hot-table.ts'
import { beginReplacement, linesOf, mapCommands, replacement } from './map-changes.ts'

/**
 * Brings HAProxy's maps from the lines of `before` to `hosts`. Undefined: its lines are
 * unknown. Throws if it does not answer or refuses.
 */
export async function sendLines(
  { files, tlsPort }: FrontSettings,
  before: HotHosts | undefined,
  hosts: HotHosts,
): Promise<void> {
  const { maps, admin } = files
  const commands = before && mapCommands(maps, before, hosts)
  if (commands) {
    for (const line of commands) await changeFront(admin, line)
    return
  }
  for (const name of mapNames) {
    if (name === 'secure' && tlsPort === undefined) continue
    const begun = await changeFront(admin, beginReplacement(maps[name]), /^New version created: \d+$/)
    const version = begun.split(': ').at(-1) ?? ''
    for (const command of replacement(maps[name], version, linesOf(hosts, name))) await changeFront(admin, command)
  }
}

/**
 * Writes the maps with which HAProxy starts. They have no lines: the table may change before it
 * listens, and a request must not follow an old line.
 */
export async function emptyMaps({ folder, maps }: FrontFiles): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const name of mapNames) await writeFile(maps[name], '', { mode: 0o600 })
}

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ServerProcess } from './server-process.ts'

/**
 * Returns the places that contain a text: files, process arguments, images, containers and output.
 * A secret must be in none of them.
 */
export async function placesOf(text: string, server: ServerProcess, service: string): Promise<string[]> {
  const { engine } = server
  const found: string[] = []
  const look = (place: string, content: string | Buffer): void => {
    if (content.includes(text)) found.push(place)
  }
  look('output of the server', server.output.join('\n'))
  for (const path of await filesBelow(server.dataDirectory)) look(path, await readFile(path).catch(() => ''))
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    look(`arguments of process ${pid}`, await readFile(`/proc/${pid}/cmdline`).catch(() => ''))
  }
  for (const { Id } of await engine.imagesOf(service)) {
    look(`image ${Id}`, JSON.stringify(await engine.ask('GET', `/images/${Id}/json`)))
    look(`history of image ${Id}`, JSON.stringify(await engine.ask('GET', `/images/${Id}/history`)))
  }
  for (const container of await engine.containersWith(`quayside.service=${service}`)) {
    look('list of containers', JSON.stringify(container))
  }
  return found
}

async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

/** Returns whether a process of this machine has this text among its arguments. */
export async function isRunningWith(text: string): Promise<boolean> {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    if (Number(pid) !== process.pid && (await readFile(`/proc/${pid}/cmdline`).catch(() => '')).includes(text))
      return true
  }
  return false
}

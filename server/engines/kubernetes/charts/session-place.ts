import { createHash } from 'node:crypto'
import { lstat, mkdir, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const memoryDirectory = '/dev/shm'
const prefix = 'quayside-charts-'
/** The file that says which process uses a directory. */
const ownerFile = 'owner'

/**
 * Returns the directory for sessions of a cluster: in memory if the machine has such a file system.
 * Removes what a killed process left there, and the directories of processes that are gone.
 */
export async function prepareSessions(directory: string, memory = memoryDirectory): Promise<string> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await sweepAbandoned(memory)
  // Every process has a directory of its own, so nobody sweeps the files of another.
  const name = createHash('sha256').update(directory).digest('hex').slice(0, 32)
  const inMemory = join(memory, `${prefix}${name}`)
  const isMade = await isMadeByUs(inMemory)
  const chosen = isMade ? inMemory : directory
  for (const left of await readdir(chosen)) await rm(join(chosen, left), { recursive: true, force: true })
  if (isMade) await writeFile(join(chosen, ownerFile), await processIdentity(process.pid), { mode: 0o600 })
  return chosen
}

/** Removes directories of processes that no longer run. Nobody else opens a cluster of theirs. */
async function sweepAbandoned(memory: string): Promise<void> {
  const names = await readdir(memory).catch(() => [])
  for (const name of names.filter((one) => one.startsWith(prefix))) {
    const path = join(memory, name)
    if ((await isOurs(path)) && (await isAbandoned(path))) await rm(path, { recursive: true, force: true })
  }
}

/** Whether the process in the file of a directory has ended. Without such a file it may run. */
async function isAbandoned(path: string): Promise<boolean> {
  const written = await readFile(join(path, ownerFile), 'utf8').catch(() => '')
  const [space, pid] = written.split(' ')
  // Numbers of processes mean something only in their own name space.
  if (!pid || space !== (await pidSpace())) return false
  return (await processIdentity(Number(pid))) !== written
}

/** Returns a text that no other process ever has: a number of a process is used again. */
async function processIdentity(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The name of the program is in parentheses, and may contain spaces.
  const startedAt = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  return `${await pidSpace()} ${pid} ${startedAt}`
}

const pidSpace = (): Promise<string> => readlink('/proc/self/ns/pid').catch(() => '')

/** Whether a directory of this name is ours. Everybody may create names there. */
async function isMadeByUs(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 })
    return true
  } catch {
    return isOurs(path)
  }
}

async function isOurs(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined)
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o077) === 0
}

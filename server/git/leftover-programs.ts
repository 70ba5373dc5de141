import { readdir, readFile } from 'node:fs/promises'

/**
 * Kills the programs of a killed process with this home: nothing limits their time and their
 * downloads any more, and nobody reads their output. Must be called before this process starts one.
 * Without /proc they end later on their own.
 */
export async function endLeftoverPrograms(home: string): Promise<void> {
  const names = await readdir('/proc').catch(() => [])
  await Promise.all(names.filter((name) => /^\d+$/.test(name)).map((name) => endIfAtHome(Number(name), home)))
}

async function endIfAtHome(pid: number, home: string): Promise<void> {
  // Programs of other users are unreadable and not ours.
  const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
  if (!environment.split('\0').includes(`HOME=${home}`)) return
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended in the meantime.
  }
}

import { readdir, readFile } from 'node:fs/promises'

/**
 * Ends the programs that a killed process left at work with this home: nobody limits their time and what they fetch any more, and
 * nobody reads what they say. To be called before this process starts one. Without /proc they end by themselves, later.
 */
export async function endLeftoverPrograms(home: string): Promise<void> {
  const names = await readdir('/proc').catch(() => [])
  await Promise.all(names.filter((name) => /^\d+$/.test(name)).map((name) => endIfAtHome(Number(name), home)))
}

async function endIfAtHome(pid: number, home: string): Promise<void> {
  // Those of other users cannot be read, and are not ours.
  const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
  if (!environment.split('\0').includes(`HOME=${home}`)) return
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}

import type { MachineReport } from '../engine.ts'
import { thisMachine } from '../machine-report.ts'
import type { DockerDaemon } from './daemon.ts'

/** Returns the machine of a daemon, with the running containers of anybody. */
export async function readMachine(daemon: Pick<DockerDaemon, 'json'>, signal: AbortSignal): Promise<MachineReport> {
  // The members come from Docker's published API.
  const info = Object(await daemon.json({ method: 'GET', path: '/info', signal, timeoutMs: 20_000 }))
  return {
    ...thisMachine(),
    distribution: String(info.OperatingSystem ?? ''),
    version: String(info.ServerVersion ?? ''),
    conditions: [{ type: 'Ready', status: 'True', reason: 'DockerAnswers', message: 'The Docker Engine answers.' }],
    pods: Number(info.ContainersRunning ?? 0),
  }
}

import { EngineError } from '../engine.ts'
import type { DockerDaemon } from './daemon.ts'
import { frames } from './frames.ts'

/** So much of what a program says of its failure is told. */
const toldBytes = 2000

/**
 * Runs a program inside of a container and gives what it prints, piece by piece; throws at the end
 * where it failed.
 */
export async function* outputOf(
  daemon: DockerDaemon,
  { container, command }: { readonly container: string; readonly command: readonly string[] },
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const body = { AttachStdout: true, AttachStderr: true, Tty: false, Cmd: command }
  const path = `/containers/${container}/exec`
  const id = String(Object(await daemon.json({ method: 'POST', path, body, signal })).Id)
  const start = { method: 'POST', path: `/exec/${id}/start`, body: { Detach: false, Tty: false }, signal } as const
  const response = await daemon.stream(start)
  let said = ''
  try {
    for await (const { stream, payload } of frames(response)) {
      if (stream === 'stdout') yield payload
      else said = (said + payload.toString()).slice(-toldBytes)
    }
  } finally {
    response.destroy()
  }
  const { ExitCode: code } = Object(await daemon.json({ method: 'GET', path: `/exec/${id}/json`, signal }))
  if (code !== 0) throw new EngineError('refused', `${command[0]} exited with code ${code}: ${said.trim()}`)
}

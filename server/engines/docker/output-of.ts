import { EngineError } from '../engine.ts'
import type { DockerDaemon } from './daemon.ts'
import { frames } from './frames.ts'

/** The most bytes of a program's errors in a message. */
const toldBytes = 2000

/**
 * Runs a program inside a container and returns its output piece by piece. Throws at the end if the
 * program failed.
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

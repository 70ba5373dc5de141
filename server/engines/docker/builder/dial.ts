import { Duplex } from 'node:stream'
import { EngineError } from '../../engine-error.ts'
import type { DockerDaemon } from '../daemon.ts'
import { frames } from '../frames.ts'

/** A longer standard error says nothing more. */
const mostSaid = 2000

/**
 * Runs a command in a container and returns its input and output as one stream of bytes. The stream
 * ends with the command, with its standard error as the reason. Throws EngineError.
 */
export async function dial(
  daemon: DockerDaemon,
  container: string,
  command: readonly string[],
  signal: AbortSignal,
): Promise<Duplex> {
  const streams = { AttachStdin: true, AttachStdout: true, AttachStderr: true, Tty: false }
  const path = `/containers/${container}/exec`
  const created = await daemon.json({ method: 'POST', path, body: { ...streams, Cmd: command }, signal })
  if (!('Id' in created)) throw new EngineError('unreachable', 'Docker returned no id of a command')
  const body = { Detach: false, Tty: false }
  return demultiplexed(await daemon.duplex({ method: 'POST', path: `/exec/${created.Id}/start`, body, signal }))
}

/** Returns a stream that writes to a connection, and reads the standard output from its frames. */
export function demultiplexed(connection: Duplex): Duplex {
  const arriving = frames(connection)
  let said = ''
  const pull = async (): Promise<Buffer | null> => {
    for (;;) {
      const { done, value } = await arriving.next()
      if (done) throw new Error(said.trim() || 'the command has ended')
      if (value.stream === 'stderr') said = (said + value.payload.toString()).slice(-mostSaid)
      else if (value.payload.length > 0) return value.payload
    }
  }
  const stream = new Duplex({
    read: () =>
      void pull().then(
        (bytes) => stream.push(bytes),
        (error: Error) => stream.destroy(error),
      ),
    write: (bytes, _encoding, done) => {
      if (connection.write(bytes) || connection.destroyed) return done()
      const go = (): void => {
        connection.off('drain', go).off('close', go)
        done()
      }
      connection.on('drain', go).on('close', go)
    },
    final: (done) => void connection.end(done),
    destroy: (error, done) => {
      connection.destroy()
      done(error)
    },
  })
  return stream
}

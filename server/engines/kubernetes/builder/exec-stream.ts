import { Duplex } from 'node:stream'
import type { KubeExec } from '../client/index.ts'

/** A longer standard error says nothing more. */
const mostSaid = 2000

/** Returns the input and the output of a command as one stream. It ends with the command. */
export function execStream(exec: KubeExec): Duplex {
  const { stdin, stdout, stderr } = exec
  const stream = new Duplex({
    read: () => void stdout.resume(),
    write: (bytes, _encoding, done) => void stdin.write(bytes, done),
    final: (done) => void stdin.end(done),
    destroy: (error, done) => {
      exec.close()
      done(error)
    },
  })
  stdout.on('data', (bytes: Buffer) => {
    if (!stream.push(bytes)) stdout.pause()
  })
  stdout.on('error', (error) => stream.destroy(error))
  let said = ''
  stderr.on('data', (bytes: Buffer) => {
    said = (said + bytes.toString()).slice(0, mostSaid)
  })
  const end = (reason: string): void => void stream.destroy(new Error(reason))
  exec.exitCode().then(
    (code) => end(`${said.trim() || 'the command in the pod has ended'}${code ? ` (exit code ${code})` : ''}`),
    (error: Error) => end(error.message),
  )
  return stream
}

import { connect } from 'node:net'
import { after } from '../clock.ts'
import { codeOf } from '../log.ts'

const answerMs = 5_000

/**
 * Sends one command to HAProxy's admin socket and returns its answer, without blank lines at the
 * end. Rejects with the system's error if nothing listens.
 */
export function askFront(path: string, command: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const socket = connect({ path })
  const cancel = after(answerMs, () => socket.destroy(new Error(`HAProxy did not answer within ${answerMs} ms`)))
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => void chunks.push(chunk))
  socket.once('error', reject)
  socket.once('close', () => {
    cancel()
    resolve(Buffer.concat(chunks).toString('utf8').trimEnd())
  })
  // A payload ends with an empty line.
  socket.write(`${command}\n`)
  return promise
}

const absent: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'])

/** Sends a command like `askFront`. Returns undefined if nothing listens. */
export async function askFrontIfAny(path: string, command: string): Promise<string | undefined> {
  try {
    return await askFront(path, command)
  } catch (error) {
    if (absent.has(codeOf(error))) return undefined
    throw error
  }
}

/** HAProxy does not accept a command. The message says why. */
export class FrontRefusal extends Error {}

/**
 * Sends a command that changes something. Such a command answers nothing, or says that it is done.
 * Throws FrontRefusal with HAProxy's message if it refuses.
 */
export async function changeFront(path: string, command: string, done = /^$/): Promise<string> {
  const answer = await askFront(path, command)
  if (done.test(answer)) return answer
  const [first = ''] = command.split('\n', 1)
  throw new FrontRefusal(`HAProxy refused "${first}": ${answer}`)
}

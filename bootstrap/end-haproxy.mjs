import { connect } from 'node:net'
import { join } from 'node:path'
import { isAlive, signal, waitUntil } from './end-process.mjs'
import { codeOf } from './error-code.mjs'
import { Refusal } from './progress.mjs'

/** HAProxy finishes what is open for at most 30 s. */
const haproxyMs = 40_000
const answerMs = 5_000

/**
 * Ends an HAProxy that has outlived its router. It is recognized by its socket in the directory of
 * the router. Returns whether there was one. Throws a Refusal if it does not end.
 * @param {string} directory
 */
export async function endHaproxy(directory) {
  const pid = await askPid(join(directory, 'front', 'admin.sock'))
  if (pid === undefined) return false
  signal(pid, 'SIGUSR1')
  if (await waitUntil(() => !isAlive(pid), haproxyMs)) return true
  throw new Refusal(`HAProxy (process ${pid}) did not end within ${haproxyMs / 1000} s. End it with "kill ${pid}".`)
}

/**
 * Returns the id of the process that answers on the socket; undefined if none does.
 * @param {string} path
 * @returns {Promise<number | undefined>}
 */
function askPid(path) {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect({ path }).setEncoding('utf8').setTimeout(answerMs)
    socket.on('data', (part) => {
      text += part
    })
    socket.on('timeout', () => socket.destroy(new Refusal(`The HAProxy at ${path} does not answer.`)))
    socket.on('error', (error) =>
      ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes(codeOf(error) ?? '')
        ? resolve(undefined)
        : reject(error),
    )
    socket.on('close', () => {
      const pid = Number(/^Pid: (\d+)$/m.exec(text)?.[1])
      resolve(pid > 1 ? pid : undefined)
    })
    socket.write('show info\n')
  })
}

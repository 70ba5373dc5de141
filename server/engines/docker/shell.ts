import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { messageOf } from '../../lib/error.ts'
import { EngineError, type ShellWish, type Terminal } from '../engine.ts'
import { inspectContainer } from './containers.ts'
import { isRefusal } from './daemon.ts'
import { plainCommand } from './plain-command.ts'
import type { Host } from './start.ts'

/**
 * Starts a command inside a running container, with a terminal if a size is given. The daemon never
 * ends such a command, so it is ended here when its connection closes.
 */
export async function openTerminal(
  { daemon, clock }: Host,
  container: string,
  { command, columns, rows }: ShellWish,
  signal: AbortSignal,
): Promise<Terminal> {
  const Tty = columns > 0 && rows > 0
  const streams = { AttachStdin: true, AttachStdout: true, AttachStderr: true, Tty }
  const body = { ...streams, Cmd: command, ...(Tty && { Env: ['TERM=xterm-256color'] }) }
  const created = await daemon.json({ method: 'POST', path: `/containers/${container}/exec`, body, signal })
  const id = 'Id' in created ? String(created.Id) : ''
  const connection = await daemon.duplex({
    method: 'POST',
    path: `/exec/${id}/start`,
    body: { Detach: false, Tty },
    signal,
  })
  // The command may have ended, or the engine may be away. Nobody waits for the result.
  connection.once('close', () => void endCommand({ daemon, clock }, container, id).catch(() => {}))
  const resize = (wide: number, high: number): Promise<void> => setSize({ daemon, clock }, id, wide, high, signal)
  const exitCode = async (): Promise<number | undefined> =>
    (await stateOf({ daemon }, id, AbortSignal.timeout(10_000)).catch(() => undefined))?.exitCode
  if (!Tty) return { stream: plainCommand(connection), resize: async () => {}, exitCode }
  await resize(columns, rows)
  return { stream: connection, resize, exitCode }
}

type Line = Pick<Host, 'daemon' | 'clock'>

/** Sets the terminal's size. A command has no terminal right after its start or after its end. */
async function setSize({ daemon, clock }: Line, id: string, w: number, h: number, signal: AbortSignal): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await daemon.send({ method: 'POST', path: `/exec/${id}/resize`, query: { h, w }, signal })
    } catch (error) {
      if (!isRefusal(error, 400, 404, 409, 500)) throw error
      if (tries === 10 || !(await stateOf({ daemon }, id, signal)).isRunning) return
      await clock.sleep(50, signal)
    }
  }
}

async function stateOf({ daemon }: Pick<Line, 'daemon'>, id: string, signal: AbortSignal) {
  const state = await daemon.json({ method: 'GET', path: `/exec/${id}/json`, signal })
  const isRunning = 'Running' in state && state.Running === true
  const exitCode = 'ExitCode' in state && typeof state.ExitCode === 'number' ? state.ExitCode : undefined
  return { isRunning, exitCode, pid: 'Pid' in state && typeof state.Pid === 'number' ? state.Pid : 0 }
}

const graceMs = 500

/** Ends a command as a closing terminal does: a hangup, then a kill if it ignores that. */
async function endCommand({ daemon, clock }: Line, container: string, id: string): Promise<void> {
  for (const kill of ['SIGHUP', 'SIGKILL'] as const) {
    const { isRunning, pid } = await stateOf({ daemon }, id, AbortSignal.timeout(10_000))
    // In another PID namespace the number may belong to another process. The cgroup proves that it
    // is inside the container.
    if (!isRunning || pid <= 1 || !(await isInside(pid, container))) return
    process.kill(pid, kill)
    await clock.sleep(graceMs)
  }
}

const isInside = async (pid: number, container: string): Promise<boolean> =>
  (await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '')).includes(container)

const connectMs = 10_000

/** Connects to a port of the container in its environment's network. */
export async function connectTo(
  { daemon }: Host,
  container: string,
  port: number,
  signal: AbortSignal,
): Promise<Duplex> {
  const address = (await inspectContainer(daemon, container, signal))?.address
  if (address === undefined) throw new EngineError('refused', 'the replica has no address; start it again')
  const socket = connect({ host: address, port, noDelay: true, signal })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  socket.once('connect', resolve).once('error', reject)
  AbortSignal.timeout(connectMs).addEventListener('abort', () => reject(new Error('the connection timed out')), {
    once: true,
  })
  try {
    await promise
  } catch (error) {
    socket.destroy()
    signal.throwIfAborted()
    throw new EngineError('unreachable', `port ${port} of the replica does not answer: ${messageOf(error)}`, {
      cause: error,
    })
  }
  // The stream's end is enough for the reader.
  socket.on('error', () => {})
  return socket
}

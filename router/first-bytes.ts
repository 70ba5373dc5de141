import { Server as HttpServer } from 'node:http'
import type { Server, Socket } from 'node:net'
import { after } from './clock.ts'
import { limits } from './limits.ts'

/**
 * Decides about a connection by its first bytes. Returns who accepts it, and how many bytes it must
 * not see. Undefined if more bytes are needed.
 */
export type Judge = (first: Buffer) => { readonly accept: Accept; readonly skip: number } | undefined

/** Serves a connection. A paused one may have bytes that were read before. */
export type Accept = (socket: Socket) => void

const accepting = new WeakMap<Server, Accept>()

/** Replaces how a server serves connections. `wrap` gets the current way. */
export function wrapAccept(server: Server, wrap: (accept: Accept) => Accept): void {
  const current = accepting.get(server) ?? takeListener(server)
  accepting.set(server, wrap(current))
}

/** Takes the listener with which Node.js serves connections from a server, and returns it. */
function takeListener(server: Server): Accept {
  const [listener] = server.listeners('connection')
  if (!listener) throw new Error('the server of this version of Node.js has no listener for connections')
  const others = server.listeners('connection').slice(1)
  server.removeAllListeners('connection')
  for (const other of others) server.on('connection', (socket) => void Reflect.apply(other, server, [socket]))
  server.on('connection', (socket) => {
    if (!socket.destroyed) accepting.get(server)?.(socket)
  })
  return (socket) => {
    Reflect.apply(listener, server, [socket])
    // A TLS server reads what is there by itself.
    if (server instanceof HttpServer) socket.resume()
  }
}

/**
 * Reads the first bytes of a connection and passes it on, paused, with the bytes that the judge
 * leaves. A connection that does not send enough of them in time is closed.
 */
export function judgeFirst(socket: Socket, judge: Judge): void {
  const cancel = after(limits.clientHeadersMs, () => socket.destroy())
  let first: Buffer = Buffer.alloc(0)
  const end = (): void => void socket.destroy()
  const read = (chunk: Buffer): void => {
    first = first.length === 0 ? chunk : Buffer.concat([first, chunk])
    const judged = judge(first)
    if (!judged) return
    cancel()
    socket.off('data', read).off('error', end).off('end', end).pause()
    if (first.length > judged.skip) socket.unshift(first.subarray(judged.skip))
    judged.accept(socket)
  }
  socket.on('data', read).on('error', end).on('end', end).once('close', cancel)
  // Another judge has left it paused.
  socket.resume()
}

const magic = Buffer.from('PRI ')

/** Whether a connection begins like one of HTTP/2. Undefined if that is not known yet. */
export function beginsHttp2(first: Buffer): boolean | undefined {
  const known = first.subarray(0, magic.length)
  if (!magic.subarray(0, known.length).equals(known)) return false
  return known.length === magic.length ? true : undefined
}

import { connect } from 'node:net'

/** A watch over a running HAProxy. */
export interface EndWatch {
  /** Whether the connection to HAProxy has ended, which usually means that HAProxy has. */
  readonly isOver: boolean
  cancel(): void
}

/** Calls `over` at once when the HAProxy that answers on a socket has ended. */
export function watchEnd(path: string, over: () => void): EndWatch {
  const socket = connect({ path })
  let isCancelled = false
  socket.on('error', () => socket.destroy())
  socket.once('close', () => {
    if (!isCancelled) over()
  })
  socket.resume().unref()
  return {
    get isOver() {
      return socket.destroyed
    },
    cancel: () => {
      isCancelled = true
      socket.destroy()
    },
  }
}

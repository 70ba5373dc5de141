import type { ServicePlace } from './follow-lines.ts'
import { openSocket } from './socket.ts'

/** The place of a command, and its terminal. */
export interface ShellWish {
  readonly place: ServicePlace
  readonly pod: string
  readonly container?: string | undefined
  readonly command: readonly string[]
}

export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

/** A command with a terminal. Leaving ends it. */
export interface Shell {
  send(text: string): void
  resize(size: TerminalSize): void
  close(): void
}

interface ShellEvents {
  readonly onBytes: (bytes: Uint8Array) => void
  /** Called when the server ends it, or is lost, with the reason. */
  readonly onEnd: (reason: string) => void
}

/** The server refuses longer messages. */
const longestMessageBytes = 64 * 1024
const encoder = new TextEncoder()
const regularEnd = 1000

/** Starts a command in a replica. Its token is a subprotocol, so no address has it. */
export async function openShell(wish: ShellWish, size: TerminalSize, { onBytes, onEnd }: ShellEvents): Promise<Shell> {
  const socket = await openSocket('/shell/exec', queryOf(wish, size))
  socket.binaryType = 'arraybuffer'
  socket.addEventListener('message', ({ data }) => onBytes(new Uint8Array(data)))
  let isLeft = false
  socket.addEventListener('close', ({ code, reason }) => isLeft || onEnd(reason || lossOf(code)))
  const isOpen = (): boolean => socket.readyState === WebSocket.OPEN
  return {
    send(text) {
      const bytes = encoder.encode(text)
      for (let start = 0; isOpen() && start < bytes.length; start += longestMessageBytes) {
        socket.send(bytes.subarray(start, start + longestMessageBytes))
      }
    },
    resize: ({ columns, rows }) => {
      if (isOpen()) socket.send(JSON.stringify({ tty_width: columns, tty_height: rows }))
    },
    close() {
      isLeft = true
      socket.close()
    },
  }
}

const lossOf = (code: number): string =>
  code === regularEnd ? 'The command ended.' : 'The connection to the server was lost. The command was ended.'

const queryOf = ({ place, pod, container, command }: ShellWish, { columns, rows }: TerminalSize) => [
  ...Object.entries(place),
  ['pod_name', pod] as const,
  ...(container ? [['container_name', container] as const] : []),
  ...command.map((part) => ['command', part] as const),
  ['tty_width', String(columns)] as const,
  ['tty_height', String(rows)] as const,
  ['resize', 'text'] as const,
]

import { FitAddon } from '@xterm/addon-fit'
import { Terminal as Screen } from '@xterm/xterm'
import '@xterm/xterm/css/xterm.css'
import { useEffect, useRef } from 'react'
import { allowStylesByScript } from './styles-by-script.ts'
import styles from './Terminal.module.css'

export interface Size {
  readonly columns: number
  readonly rows: number
}

/** The program at the other end of a terminal. */
export interface Program {
  send(text: string): void
  resize(size: Size): void
  close(): void
}

interface TerminalProps {
  readonly label: string
  /** Starts the program. Called once. `write` shows its bytes. */
  readonly start: (size: Size, write: (bytes: Uint8Array) => void) => Promise<Program>
  /** Called when somebody leaves the terminal by its key, which is F6. */
  readonly onLeave: () => void
}

/** A terminal on the page. It ends its program when it leaves the page. */
export function Terminal({ label, start, onLeave }: TerminalProps) {
  const frame = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a terminal starts its program once
  useEffect(() => {
    if (!frame.current) return undefined
    const forbidStyles = allowStylesByScript(document)
    const screen = new Screen(lookOf(frame.current))
    const fit = new FitAddon()
    screen.loadAddon(fit)
    screen.open(frame.current)
    screen.textarea?.setAttribute('aria-label', label)
    fit.fit()
    screen.focus()
    screen.attachCustomKeyEventHandler((event) => ownKey(event, screen, onLeave))
    const program = start({ columns: screen.cols, rows: screen.rows }, writerOf(screen))
    const act = (work: (running: Program) => void): void => void program.then(work, () => {})
    screen.onData((text) => act(({ send }) => send(text)))
    screen.onResize(({ cols: columns, rows }) => act(({ resize }) => resize({ columns, rows })))
    const observer = new ResizeObserver(() => fit.fit())
    observer.observe(frame.current)
    return () => {
      observer.disconnect()
      act(({ close }) => close())
      screen.dispose()
      forbidStyles()
    }
  }, [])
  return <div ref={frame} className={styles['frame']} />
}

/** The terminal refuses to keep more bytes that it has not drawn. */
const mostWaitingBytes = 40_000_000

/** Returns a function that draws bytes. It drops those of a program that prints too fast for it. */
function writerOf(screen: Screen): (bytes: Uint8Array) => void {
  let waiting = 0
  return (bytes) => {
    if (waiting > mostWaitingBytes) return
    waiting += bytes.length
    screen.write(bytes, () => {
      waiting -= bytes.length
    })
  }
}

/** The colours of the page. The terminal makes those of programs readable on them. */
function lookOf(frame: HTMLElement) {
  const { backgroundColor: background, color: foreground } = getComputedStyle(frame)
  return {
    theme: { background, foreground, cursor: foreground, cursorAccent: background },
    minimumContrastRatio: 4.5,
    fontFamily: 'ui-monospace, Menlo, Consolas, "Liberation Mono", monospace',
    fontSize: 13,
    screenReaderMode: true,
    scrollback: 5_000,
  }
}

/** Keys of the page rather than of the program. Returns whether the program receives the key. */
function ownKey(event: KeyboardEvent, screen: Screen, onLeave: () => void): boolean {
  if (event.key === 'F6') {
    if (event.type === 'keydown') onLeave()
    return false
  }
  if (event.ctrlKey && event.shiftKey && event.code === 'KeyC' && screen.hasSelection()) {
    event.preventDefault()
    if (event.type === 'keydown') void navigator.clipboard.writeText(screen.getSelection())
    return false
  }
  // The browser pastes by this key. Without it, the program would receive a control character.
  return !(event.ctrlKey && event.shiftKey && event.code === 'KeyV')
}

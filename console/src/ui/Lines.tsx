import { useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react'
import type { LineStore } from '../api/line-store.ts'
import styles from './Lines.module.css'

/** The height of a line in pixels. Lines are not wrapped, so only the visible ones are drawn. */
const lineHeight = 20
/** Lines above and below the visible ones, for quick scrolling. */
const spare = 30

/** The lines of a log. It stays at the end until somebody scrolls away from it. */
export function Lines({ store, label }: { readonly store: LineStore; readonly label: string }) {
  useSyncExternalStore(
    (listener) => store.subscribe(listener),
    () => store.version,
  )
  const frame = useRef<HTMLElement>(null)
  const [top, setTop] = useState(0)
  const [height, setHeight] = useState(400)
  const isAtEnd = useRef(true)
  const { lines } = store
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setHeight(entry?.contentRect.height ?? 400))
    if (frame.current) observer.observe(frame.current)
    return () => observer.disconnect()
  }, [])
  useLayoutEffect(() => {
    if (isAtEnd.current && frame.current) frame.current.scrollTop = frame.current.scrollHeight
  })
  const first = Math.max(0, Math.floor(top / lineHeight) - spare)
  const shown = lines.slice(first, Math.ceil((top + height) / lineHeight) + spare)
  return (
    <section
      ref={frame}
      className={styles['frame']}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reachable by keyboard
      tabIndex={0}
      onScroll={({ currentTarget: at }) => {
        isAtEnd.current = at.scrollHeight - at.scrollTop - at.clientHeight < lineHeight * 2
        setTop(at.scrollTop)
      }}
    >
      <div style={{ height: lines.length * lineHeight }}>
        <ol className={styles['lines']} style={{ transform: `translateY(${first * lineHeight}px)` }}>
          {shown.map(({ number, at, text }) => (
            <li key={number}>
              <time dateTime={new Date(at).toISOString()}>{clockOf(at)}</time>
              {withoutControls(text)}
            </li>
          ))}
        </ol>
      </div>
    </section>
  )
}

const clockOf = (at: number): string => new Date(at).toLocaleTimeString('en-GB')

/** Programs colour their lines. The colours and other controls of terminals are left out. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what it looks for
const controls = /\u001b\[[0-9;]{0,20}[A-Za-z]|[\u0000-\u0008\u000b-\u001f\u007f]/g
export const withoutControls = (text: string): string => text.replace(controls, '')

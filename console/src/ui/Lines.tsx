import { useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react'
import type { Line, LineStore } from '../api/line-store.ts'
import { plainText } from './ansi.ts'
import styles from './Lines.module.css'
import { LineText } from './LineText.tsx'
import { levelOf } from './level.ts'

/** The height of a line in pixels. Lines are not wrapped, so only the visible ones are drawn. */
const lineHeight = 20
/** Lines above and below the visible ones, for quick scrolling. */
const spare = 20
/** The characters of a line that are drawn in its row. */
const mostCharacters = 2_000

interface LinesProps {
  readonly store: LineStore
  readonly label: string
  readonly isTall?: boolean
  /** A part of the text that is marked, in lower case. */
  readonly mark?: string
  /** The address of a line. Without it, lines have none. */
  readonly hrefOf?: (line: Line) => string
  readonly onPick?: (line: Line) => void
  /** The place of a line that is marked, and to which it scrolls. */
  readonly chosen?: number | undefined
}

/**
 * The lines of a log. It stays at the end until somebody scrolls away from it. Then new lines wait
 * in the store.
 */
export function Lines({ store, label, isTall = false, chosen, ...row }: LinesProps) {
  useSyncExternalStore(
    (listener) => store.subscribe(listener),
    () => store.version,
  )
  const frame = useRef<HTMLElement>(null)
  const isScrolledAway = useRef(false)
  const [top, setTop] = useState(0)
  const height = useHeight(frame)
  const { lines } = store
  const isAtEnd = store.waiting === undefined
  const total = lines.length * lineHeight
  useLayoutEffect(() => {
    if (isAtEnd && frame.current) frame.current.scrollTop = frame.current.scrollHeight
  })
  useEffect(() => {
    if (chosen !== undefined && frame.current) frame.current.scrollTop = (chosen + 1) * lineHeight - height / 2
  }, [chosen, height])
  const onScroll = (at: HTMLElement): void => {
    const isEnd = at.scrollHeight - at.scrollTop - at.clientHeight < lineHeight
    if (isAtEnd && !isEnd) {
      isScrolledAway.current = true
      store.hold()
    } else if (!isAtEnd && isEnd && isScrolledAway.current) {
      isScrolledAway.current = false
      store.release()
    }
    setTop(at.scrollTop)
  }
  const first = Math.max(0, Math.floor((isAtEnd ? total - height : top) / lineHeight) - spare)
  const shown = visible(lines, first, Math.ceil(height / lineHeight) + 2 * spare)
  return (
    <section
      ref={frame}
      className={styles['frame']}
      data-size={isTall ? 'tall' : 'usual'}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reachable by keyboard
      tabIndex={0}
      onScroll={({ currentTarget }) => onScroll(currentTarget)}
    >
      <div style={{ height: total }}>
        <ol className={styles['lines']} style={{ transform: `translateY(${first * lineHeight}px)` }}>
          {shown.map((line, index) => (
            <Row key={isAtEnd ? index : line.number} line={line} isChosen={first + index === chosen} {...row} />
          ))}
        </ol>
      </div>
    </section>
  )
}

type RowProps = Pick<LinesProps, 'mark' | 'hrefOf' | 'onPick'> & { readonly line: Line; readonly isChosen: boolean }

function Row({ line, isChosen, mark, hrefOf, onPick }: RowProps) {
  const { at, text } = line
  const time = <time dateTime={new Date(at).toISOString()}>{clockOf(at)}</time>
  return (
    <li data-level={levelOf(plainText(text.slice(0, mostCharacters)))} data-chosen={isChosen || undefined}>
      {hrefOf ? (
        <a
          href={hrefOf(line)}
          onClick={(event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey) return
            event.preventDefault()
            onPick?.(line)
          }}
        >
          {time}
        </a>
      ) : (
        time
      )}
      <LineText text={text} mark={mark} most={mostCharacters} />
    </li>
  )
}

/** The height of an element that is not undefined, as long as it lives. */
function useHeight(element: { readonly current: HTMLElement | null }): number {
  const [height, setHeight] = useState(400)
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setHeight(entry?.contentRect.height ?? 400))
    if (element.current) observer.observe(element.current)
    return () => observer.disconnect()
  }, [element])
  return height
}

function visible(lines: LineStore['lines'], first: number, count: number): readonly Line[] {
  return Array.from({ length: count }, (_, index) => lines.at(first + index)).filter((line) => line !== undefined)
}

/** One format for all lines: making a new one for each takes most of the time of drawing. */
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const clockOf = (at: number): string => clock.format(at)

import { useSyncExternalStore } from 'react'
import type { LineStore } from '../api/line-store.ts'
import { Button } from '../ui/Button.tsx'
import styles from './LinesNow.module.css'

interface LinesNowProps {
  readonly store: LineStore
  /** Whether an old line is shown, after which nothing follows. */
  readonly isLinked: boolean
}

/** The number of lines, and of those that wait while somebody reads. */
export function LinesNow({ store, isLinked }: LinesNowProps) {
  useSyncExternalStore(
    (listener) => store.subscribe(listener),
    () => store.version,
  )
  const { waiting, kept, lines } = store
  const count = (number: number): string => number.toLocaleString('en')
  const inWords = (number: number): string => `${count(number)} ${number === 1 ? 'line' : 'lines'}`
  return (
    <p className={styles['now']}>
      <span>
        {kept === 0
          ? 'There are no lines yet.'
          : `${inWords(kept)}${lines.length === kept ? '' : `, ${count(lines.length)} of them shown`}`}
      </span>
      <span role="status">{waiting !== undefined && !isLinked && 'Paused.'}</span>
      {waiting !== undefined && waiting > 0 && (
        <Button onClick={() => store.release()}>{`Show ${count(waiting)} new lines`}</Button>
      )}
    </p>
  )
}

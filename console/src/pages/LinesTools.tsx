import { type FormEvent, useDeferredValue, useEffect, useState, useSyncExternalStore } from 'react'
import type { LineStore } from '../api/line-store.ts'
import { plainText } from '../ui/ansi.ts'
import { Button } from '../ui/Button.tsx'
import { type Level, levelOf, levels } from '../ui/level.ts'
import { downloadLines } from './download-lines.ts'
import styles from './LinesTools.module.css'
import type { LinesSearch } from './lines-search.ts'

interface LinesToolsProps {
  readonly store: LineStore
  /** The name of the service, for the file. */
  readonly name: string
  readonly search: LinesSearch
  /** Receives the text that is marked in the lines, in lower case. */
  readonly onMark: (text: string) => void
  readonly onSearch: (text: string) => void
}

/** Chooses among the lines of the page at once, and among all stored ones with Enter. */
export function LinesTools({ store, name, search, onMark, onSearch }: LinesToolsProps) {
  const [text, setText] = useState(search.text ?? '')
  const [shown, setShown] = useState<readonly Level[]>(levels)
  const [pod, setPod] = useState('')
  const wanted = useDeferredValue(text).toLowerCase()
  useEffect(() => {
    onMark(wanted)
    const isAll = wanted === '' && shown.length === levels.length && pod === ''
    store.filter(
      isAll
        ? undefined
        : (line) =>
            (pod === '' || line.pod === pod) &&
            (wanted === '' || plainText(line.text).toLowerCase().includes(wanted)) &&
            (shown.length === levels.length || shown.includes(levelOf(plainText(line.text)))),
    )
  }, [store, onMark, wanted, shown, pod])
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    onSearch(text)
  }
  const toggle = (level: Level): void =>
    setShown(shown.includes(level) ? shown.filter((one) => one !== level) : [...shown, level])
  return (
    <form className={styles['tools']} onSubmit={submit} aria-label="Lines to show">
      <input
        type="search"
        className={styles['search']}
        placeholder="Lines that contain …"
        aria-label="Search in the lines"
        title="Enter looks in all stored lines"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <Button type="submit">Search all</Button>
      <fieldset className={styles['levels']}>
        <legend>Levels</legend>
        {levels.map((level) => (
          <label key={level}>
            <input type="checkbox" checked={shown.includes(level)} onChange={() => toggle(level)} />
            {level}
          </label>
        ))}
      </fieldset>
      <ReplicaSelect store={store} value={pod} onChange={setPod} />
      <span className={styles['actions']}>
        <PauseButton store={store} />
        <Button onClick={() => downloadLines(store, name)}>Download</Button>
      </span>
    </form>
  )
}

interface ReplicaSelectProps {
  readonly store: LineStore
  readonly value: string
  readonly onChange: (pod: string) => void
}

/** The replicas that printed the lines. */
function ReplicaSelect({ store, value, onChange }: ReplicaSelectProps) {
  const count = useSyncExternalStore(
    (listener) => store.subscribe(listener),
    () => store.pods.size,
  )
  if (count < 2 && value === '') return null
  return (
    <select
      aria-label="Replica"
      className={styles['replicas']}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    >
      <option value="">all replicas</option>
      {[...store.pods].map((pod) => (
        <option key={pod}>{pod}</option>
      ))}
    </select>
  )
}

function PauseButton({ store }: { readonly store: LineStore }) {
  const isHeld = useSyncExternalStore(
    (listener) => store.subscribe(listener),
    () => store.waiting !== undefined,
  )
  return <Button onClick={() => (isHeld ? store.release() : store.hold())}>{isHeld ? 'Continue' : 'Pause'}</Button>
}

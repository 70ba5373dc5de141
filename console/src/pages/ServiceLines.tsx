import { useDeferredValue, useEffect, useState } from 'react'
import { followLines, type ServicePlace } from '../api/follow-lines.ts'
import { LineStore } from '../api/line-store.ts'
import { Button } from '../ui/Button.tsx'
import { Lines } from '../ui/Lines.tsx'
import { Section } from '../ui/Page.tsx'
import styles from './ServiceLines.module.css'

/** The lines of a service as they are printed, with a search that the server does. */
export function ServiceLines({ place }: { readonly place: ServicePlace }) {
  const [store] = useState(() => new LineStore((work) => void requestAnimationFrame(work)))
  const [text, setText] = useState('')
  const [isPaused, setPaused] = useState(false)
  const wanted = useDeferredValue(text)
  const { organization, cluster, project, environment, service } = place
  useEffect(() => {
    if (isPaused) return undefined
    store.clear()
    return followLines(store, { organization, cluster, project, environment, service }, wanted)
  }, [store, organization, cluster, project, environment, service, wanted, isPaused])
  return (
    <Section title="Lines">
      <div className={styles['tools']}>
        <input
          type="search"
          className={styles['search']}
          placeholder="Lines that contain …"
          aria-label="Search in the lines"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <Button onClick={() => setPaused(!isPaused)}>{isPaused ? 'Continue' : 'Pause'}</Button>
      </div>
      <Lines store={store} label="Lines of the service" />
    </Section>
  )
}

import type { Line } from '../api/line-store.ts'
import { Button } from '../ui/Button.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { LineText } from '../ui/LineText.tsx'
import { Section } from '../ui/Page.tsx'
import styles from './LineDetails.module.css'

interface LineDetailsProps {
  readonly line: Line
  readonly href: string
  readonly onClose: () => void
}

/** One line with everything that it has, and its address. */
export function LineDetails({ line, href, onClose }: LineDetailsProps) {
  const { at, pod, text } = line
  const actions = (
    <>
      <CopyButton textOf={() => new URL(href, location.origin).href}>Copy the link</CopyButton>
      <CopyButton textOf={() => text}>Copy the text</CopyButton>
      <Button onClick={onClose}>Close</Button>
    </>
  )
  return (
    <Section title="Line" actions={actions}>
      <p className={styles['about']}>
        <time dateTime={new Date(at).toISOString()}>{new Date(at).toISOString()}</time> {pod}
      </p>
      <pre className={styles['text']}>
        <LineText text={text} />
      </pre>
    </Section>
  )
}

import type { FormEvent, ReactNode } from 'react'
import { AsCurl, type Preview } from './AsCurl.tsx'
import { Button } from './Button.tsx'
import { ChangedByOthers, type OthersFields } from './ChangedByOthers.tsx'
import styles from './Dialog.module.css'
import { Popup } from './Popup.tsx'
import { Problem } from './Problem.tsx'

interface FormDialogProps {
  readonly title: string
  readonly isOpen: boolean
  readonly onClose: () => void
  /** The word on the button that sends the form. */
  readonly action: string
  readonly look?: 'main' | 'danger'
  /** For content that is compared side by side. */
  readonly isWide?: boolean
  readonly isBusy?: boolean
  /** The error of the last try. The form keeps its values. */
  readonly error?: unknown
  /** The labels of fields that somebody else has changed while the form has unsaved input. */
  readonly others?: OthersFields
  /** Why it cannot be sent now. */
  readonly refusal?: string | undefined
  readonly onSubmit: () => void
  /** The requests that it would send, for people who want to send them by a program. */
  readonly preview: Preview
  readonly children: ReactNode
}

/** A form above the page. Escape and a click beside it close it. */
export function FormDialog(props: FormDialogProps) {
  const {
    title,
    isOpen,
    onClose,
    action,
    look = 'main',
    isWide = false,
    isBusy = false,
    error,
    others,
    refusal,
    onSubmit,
    preview,
    children,
  } = props
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (!isBusy && refusal === undefined) onSubmit()
  }
  if (!isOpen) return null
  return (
    <Popup {...{ title, onClose, isWide }}>
      <form onSubmit={submit}>
        <Problem error={error} />
        <ChangedByOthers fields={others} />
        {children}
        <div className={styles['actions']}>
          <AsCurl preview={preview} />
          <Button onClick={onClose}>Close</Button>
          <Button type="submit" look={look} isBusy={isBusy} refusal={refusal}>
            {action}
          </Button>
        </div>
      </form>
    </Popup>
  )
}

import type { ReactNode } from 'react'
import { Button } from './Button.tsx'
import styles from './Dialog.module.css'
import { Popup } from './Popup.tsx'

interface PlainDialogProps {
  readonly title: string
  readonly onClose: () => void
  /** The last line, beside the button that closes it. */
  readonly actions?: ReactNode
  /** The last event, for people who do not see the page. */
  readonly said?: string
  readonly children: ReactNode
}

/** Something above the page that is read and closed. */
export const PlainDialog = ({ title, onClose, actions, said, children }: PlainDialogProps) => (
  <Popup {...{ title, onClose }}>
    {children}
    <div className={styles['actions']}>
      <span role="status">{said}</span>
      <Button onClick={onClose}>Close</Button>
      {actions}
    </div>
  </Popup>
)

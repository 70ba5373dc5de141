import { Dialog as Base } from '@base-ui/react/dialog'
import type { ReactNode } from 'react'
import { Button } from './Button.tsx'
import styles from './Dialog.module.css'

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
  <Base.Root open onOpenChange={(open) => !open && onClose()}>
    <Base.Portal>
      <Base.Backdrop className={styles['backdrop']} />
      <Base.Popup className={styles['popup']}>
        <Base.Title>{title}</Base.Title>
        {children}
        <div className={styles['actions']}>
          <span role="status">{said}</span>
          <Button onClick={onClose}>Close</Button>
          {actions}
        </div>
      </Base.Popup>
    </Base.Portal>
  </Base.Root>
)

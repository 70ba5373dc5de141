import { Dialog as Base } from '@base-ui/react/dialog'
import type { ReactNode } from 'react'
import styles from './Dialog.module.css'

export interface PopupProps {
  readonly title: string
  readonly onClose: () => void
  /** For content that is compared side by side. */
  readonly isWide?: boolean
  readonly children: ReactNode
}

/** A box above the page, which keeps the focus inside. Escape and a click beside it close it. */
export const BasePopup = ({ title, onClose, isWide = false, children }: PopupProps) => (
  <Base.Root open onOpenChange={(open) => !open && onClose()}>
    <Base.Portal>
      <Base.Backdrop className={styles['backdrop']} />
      <Base.Popup className={styles['popup']} data-wide={isWide}>
        <Base.Title>{title}</Base.Title>
        {children}
      </Base.Popup>
    </Base.Portal>
  </Base.Root>
)

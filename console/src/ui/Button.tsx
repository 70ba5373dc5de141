import type { ReactNode } from 'react'
import styles from './Button.module.css'

interface ButtonProps {
  readonly children: ReactNode
  readonly onClick?: () => void
  readonly type?: 'button' | 'submit'
  /** Why it cannot be pressed now. It stays reachable, so that everybody can read the reason. */
  readonly refusal?: string | undefined
  readonly isBusy?: boolean
  readonly look?: 'main' | 'plain' | 'danger'
  /** The name for people who do not see what is beside the button, if it is more than its text. */
  readonly label?: string
  /** The menu that it opens. */
  readonly opens?: { readonly isOpen: boolean; readonly id: string }
}

/** The class of links that look like buttons. */
export const buttonClass = styles['button']

export function Button({ isBusy = false, look = 'plain', type = 'button', ...props }: ButtonProps) {
  const { children, onClick, refusal, label, opens } = props
  const cannot = refusal !== undefined || isBusy
  return (
    <button
      type={type}
      className={styles['button']}
      data-look={look}
      aria-disabled={cannot}
      aria-busy={isBusy}
      aria-label={label}
      aria-haspopup={opens && 'menu'}
      aria-expanded={opens?.isOpen}
      aria-controls={opens?.isOpen ? opens.id : undefined}
      title={refusal}
      aria-description={refusal}
      onClick={(event) => {
        if (cannot) event.preventDefault()
        else onClick?.()
      }}
    >
      {children}
    </button>
  )
}

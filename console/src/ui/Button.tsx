import type { ReactNode } from 'react'
import styles from './Button.module.css'

interface ButtonProps {
  readonly children: ReactNode
  readonly onClick: () => void
  /** Why it cannot be pressed now. It stays reachable, so that everybody can read the reason. */
  readonly refusal?: string | undefined
  readonly isBusy?: boolean
  readonly look?: 'main' | 'plain' | 'danger'
}

export function Button({ children, onClick, refusal, isBusy = false, look = 'plain' }: ButtonProps) {
  const cannot = refusal !== undefined || isBusy
  return (
    <button
      type="button"
      className={styles['button']}
      data-look={look}
      aria-disabled={cannot}
      aria-busy={isBusy}
      title={refusal}
      aria-description={refusal}
      onClick={() => {
        if (!cannot) onClick()
      }}
    >
      {children}
    </button>
  )
}

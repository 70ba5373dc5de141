import type { ReactNode } from 'react'
import styles from './Notice.module.css'

/** A remark about the page, with the action that it asks for. */
export const Notice = ({ children }: { readonly children: ReactNode }) => (
  <div role="status" className={styles['notice']}>
    {children}
  </div>
)

import { type ReactNode, useEffect } from 'react'
import styles from './Page.module.css'

interface PageProps {
  readonly title: string
  /** The way to the page, as links. */
  readonly above?: ReactNode
  /** Beside the title, such as a state. */
  readonly beside?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** The frame of every page: its title, its actions and its content. */
export function Page({ title, above, beside, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} – Quayside`
  }, [title])
  return (
    <main className={styles['page']}>
      {above && (
        <nav className={styles['above']} aria-label="Way to this page">
          {above}
        </nav>
      )}
      <header className={styles['head']}>
        <h1>{title}</h1>
        {beside}
        <div className={styles['actions']}>{actions}</div>
      </header>
      {children}
    </main>
  )
}

/** A part of a page with a heading. */
export function Section({ title, actions, children }: Omit<PageProps, 'beside'>) {
  return (
    <section className={styles['section']}>
      <div className={styles['head']}>
        <h2>{title}</h2>
        <div className={styles['actions']}>{actions}</div>
      </div>
      {children}
    </section>
  )
}

/** An empty list, and the way to fill it. */
export const Empty = ({ children }: { readonly children: ReactNode }) => <p className={styles['empty']}>{children}</p>

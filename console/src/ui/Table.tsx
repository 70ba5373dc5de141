import type { ReactNode } from 'react'
import styles from './Table.module.css'

interface TableProps {
  /** The name of the table for people who do not see it. */
  readonly label: string
  readonly columns: readonly string[]
  readonly children: ReactNode
}

/** A table that scrolls by itself if it is wider than the page. */
export function Table({ label, columns, children }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reachable by keyboard
    <section className={styles['frame']} aria-label={label} tabIndex={0}>
      <table className={styles['table']}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  )
}

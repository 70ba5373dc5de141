import { type CSSProperties, type ReactNode, type RefObject, useLayoutEffect, useRef } from 'react'
import styles from './Table.module.css'

interface TableProps {
  /** The name of the table for people who do not see it. */
  readonly label: string
  readonly columns: readonly string[]
  readonly children: ReactNode
}

/**
 * A table that scrolls by itself if it is wider than the page. On a narrow screen each row is a
 * block with its first cell as the heading, and each other cell is beside the name of its column.
 */
export function Table({ label, columns, children }: TableProps) {
  const body = useRef<HTMLTableSectionElement>(null)
  useRoles(body)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reachable by keyboard
    <section className={styles['frame']} aria-label={label} tabIndex={0}>
      {/* biome-ignore-start lint/a11y/noRedundantRoles: blocks are not taken for a table by all browsers */}
      <table
        role="table"
        className={styles['table']}
        data-actions={columns.at(-1) === 'Actions'}
        style={columnNames(columns)}
      >
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th key={column} role="columnheader" scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup" ref={body}>
          {children}
        </tbody>
      </table>
      {/* biome-ignore-end lint/a11y/noRedundantRoles: see above */}
    </section>
  )
}

/** The names of the columns for the style sheet, such as `--column-2`, which React's type lacks. */
const columnNames = (columns: readonly string[]): CSSProperties =>
  Object.fromEntries(columns.map((name, index) => [`--column-${index + 1}`, JSON.stringify(name)])) as CSSProperties

/** Names rows and cells for screen readers. Browsers differ in what they take blocks for. */
function useRoles(body: RefObject<HTMLTableSectionElement | null>): void {
  useLayoutEffect(() => {
    const { current } = body
    if (!current) return undefined
    const name = (): void => [...current.rows].forEach(nameRow)
    name()
    const observer = new MutationObserver(name)
    observer.observe(current, { childList: true, subtree: true })
    return () => observer.disconnect()
  }, [body])
}

function nameRow(row: HTMLTableRowElement): void {
  row.setAttribute('role', 'row')
  for (const cell of row.cells) cell.setAttribute('role', cell.tagName === 'TH' ? 'rowheader' : 'cell')
}

import styles from './Diff.module.css'

export interface DiffEntry {
  /** The sort of the thing, such as "variable". */
  readonly kind: string
  readonly name: string
  /** Null if it is a secret or missing. */
  readonly before: string | null
  readonly after: string | null
  readonly is_secret: boolean
}

/** Values before and after a change. The words of each entry say the same as its colours. */
export const Diff = ({ label, entries }: { readonly label: string; readonly entries: readonly DiffEntry[] }) => (
  <dl className={styles['diff']} aria-label={label}>
    {entries.map(({ kind, name, before, after, is_secret: isSecret }) => (
      <div key={`${kind} ${name}`}>
        <dt>
          {kind} <code>{name}</code>
        </dt>
        <dd>
          {isSecret && 'another value, which is secret'}
          {before !== null && <del>{before === '' ? '(empty)' : before}</del>}
          {after !== null && <ins>{after === '' ? '(empty)' : after}</ins>}
        </dd>
      </div>
    ))}
  </dl>
)

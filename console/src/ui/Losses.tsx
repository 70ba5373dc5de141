import styles from './Losses.module.css'

/** Names what an action deletes. Without anything, nothing is drawn. */
export const Losses = ({ losses }: { readonly losses: readonly string[] }) =>
  losses.length > 0 && (
    <>
      <p>This cannot be undone. It deletes:</p>
      <ul className={styles['losses']}>
        {losses.map((loss) => (
          <li key={loss}>{loss}</li>
        ))}
      </ul>
    </>
  )

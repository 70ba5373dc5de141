import { messageOf } from '../api/client.ts'
import styles from './Problem.module.css'

/** The message of the API about something that did not work. */
export const Problem = ({ error }: { readonly error: unknown }) =>
  error ? (
    <p role="alert" className={styles['problem']}>
      {messageOf(error)}
    </p>
  ) : null

import styles from './Reason.module.css'

interface ReasonProps {
  /** May have several lines. Without it, nothing is drawn. */
  readonly text: string | null | undefined
}

/** Why something is in its state. It stands below the state in a table. */
export const Reason = ({ text }: ReasonProps) => text && <div className={styles['reason']}>{text}</div>

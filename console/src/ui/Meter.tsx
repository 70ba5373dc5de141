import styles from './Meter.module.css'

interface MeterProps {
  readonly label: string
  /** A share between 0 and 1. Undefined while it is unknown. */
  readonly share: number | undefined
  /** The share in words, such as "1.2 of 2 cores". */
  readonly words: string
}

/** The use of something, as words and as a bar. The words alone say everything. */
export function Meter({ label, share, words }: MeterProps) {
  const percent = share === undefined ? undefined : Math.round(Math.min(1, Math.max(0, share)) * 100)
  return (
    <div className={styles['meter']}>
      <span className={styles['label']}>{label}</span>
      <span>{words}</span>
      {percent !== undefined && (
        <span aria-hidden="true" className={styles['bar']} data-tone={toneOf(percent)}>
          <span style={{ width: `${percent}%` }} />
        </span>
      )}
    </div>
  )
}

/** Pure: how full something is. */
const toneOf = (percent: number): 'bad' | 'warn' | 'good' => (percent >= 95 ? 'bad' : percent >= 80 ? 'warn' : 'good')

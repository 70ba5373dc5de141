import { asCurl } from '../api/as-curl.ts'
import { sendChanges, useNextChange } from '../api/next-change.ts'
import { CurlCommand, CurlProblem } from '../ui/AsCurl.tsx'
import { Button } from '../ui/Button.tsx'
import { Notice } from '../ui/Notice.tsx'
import styles from './Frame.module.css'

/** Says that the next change is shown as a command instead of being sent, and shows it. */
export function NextChange() {
  const next = useNextChange()
  if (next.as === 'command') return <CurlCommand text={asCurl(next.requests)} onClose={sendChanges} />
  if (next.as === 'problem') return <CurlProblem error={next.error} onClose={sendChanges} />
  if (next.as === 'sent') return null
  return (
    <div className={styles['next']}>
      <Notice>
        <span>The next change is not sent. It is shown as a curl command.</span>
        <Button onClick={sendChanges}>Send changes again</Button>
      </Notice>
    </div>
  )
}

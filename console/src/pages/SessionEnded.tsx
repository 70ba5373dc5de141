import { useState } from 'react'
import { useIsSessionEnded } from '../api/session-end.ts'
import { Notice } from '../ui/Notice.tsx'
import { PlainDialog } from '../ui/PlainDialog.tsx'

const link = (
  <p>
    <a href={location.pathname} target="_blank" rel="noreferrer">
      Sign in again
    </a>{' '}
    in another tab, then come back. This page keeps your inputs and continues by itself.
  </p>
)

/** Leads to a sign-in in another tab, so that nothing on this page is lost. */
export const SessionEnded = () => useIsSessionEnded() && <Ended />

function Ended() {
  const [isClosed, setClosed] = useState(false)
  if (isClosed) return <Notice>Your session has ended. {link}</Notice>
  return (
    <PlainDialog title="Your session has ended" onClose={() => setClosed(true)}>
      {link}
    </PlainDialog>
  )
}

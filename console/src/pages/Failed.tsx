import type { ErrorComponentProps } from '@tanstack/react-router'
import { isMissing } from '../api/client.ts'
import { Button } from '../ui/Button.tsx'
import { Page } from '../ui/Page.tsx'
import { Problem } from '../ui/Problem.tsx'

/** A page whose reads have failed. */
export const Failed = ({ error, reset }: ErrorComponentProps) => (
  <Page title={isMissing(error) ? 'Page not found' : 'That did not work'}>
    <Problem error={error} />
    <Button look="main" onClick={reset}>
      Try again
    </Button>
  </Page>
)

export const Missing = () => (
  <Page title="Page not found">
    <p>
      Nothing is at this address. Begin at the <a href="/">organization</a>.
    </p>
  </Page>
)

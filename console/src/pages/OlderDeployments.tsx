import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { HistoryRead } from '../api/reads-history.ts'
import { Button } from '../ui/Button.tsx'
import { Problem } from '../ui/Problem.tsx'

/** The deployments that were read, and a way to read older ones. */
export function useHistory<T>(read: (pages: number) => HistoryRead<T>) {
  const [pages, setPages] = useState(1)
  const first = read(1)
  const { data: newest } = useSuspenseQuery(first)
  const { data, error, isPlaceholderData } = useQuery({
    ...read(pages),
    // The list stays while more are read, unless it is of something else.
    placeholderData: (former, of) =>
      String(of?.queryKey.slice(0, -1)) === String(first.queryKey.slice(0, -1)) ? former : newest,
  })
  const { results: history, hasMore } = data ?? newest
  return { history, older: { error, hasMore, isBusy: isPlaceholderData, onRead: () => setPages(pages + 1) } }
}

/** The button at the end of a list of deployments. */
export const OlderDeployments = ({ error, hasMore, isBusy, onRead }: ReturnType<typeof useHistory>['older']) => (
  <>
    <Problem error={error} />
    {hasMore && (
      <p>
        <Button isBusy={isBusy} onClick={onRead}>
          Older deployments
        </Button>
      </p>
    )}
  </>
)

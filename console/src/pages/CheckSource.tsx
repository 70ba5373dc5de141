import type { KindName } from '@quayside/contract/services/kinds.ts'
import { useMutation } from '@tanstack/react-query'
import { checkOf } from '../api/check-source.ts'
import type { Draft } from '../forms/draft.ts'
import { Button } from '../ui/Button.tsx'
import { Problem } from '../ui/Problem.tsx'
import { useMay } from './use-may.ts'

interface CheckSourceProps {
  readonly organizationId: string
  readonly environmentId: string
  readonly kind: KindName
  readonly draft: Draft
}

/** Asks the registry or the git server whether it has the source of a form, before it is sent. */
export function CheckSource({ organizationId, environmentId, kind, draft }: CheckSourceProps) {
  const check = checkOf(kind, draft)
  const asked = useMutation({
    mutationFn: async () => (await check?.({ organizationId, environmentId })) ?? '',
  })
  const refusal = useMay()('checkContainerImage')
  if (!check) return null
  return (
    <>
      <Problem error={asked.error} />
      <p role="status">{asked.data}</p>
      <Button isBusy={asked.isPending} refusal={refusal} onClick={() => asked.mutate()}>
        Check the source
      </Button>
    </>
  )
}

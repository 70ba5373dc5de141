import { useMutation, useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type CheckedDomain, type CustomDomain, customDomains, type DomainOperations } from '../api/domains.ts'
import { Button } from '../ui/Button.tsx'
import { Empty, Section } from '../ui/Page.tsx'
import { Problem } from '../ui/Problem.tsx'
import { wordsOf } from '../ui/State.tsx'
import { DomainForm } from './DomainForm.tsx'
import { DomainItem } from './DomainItem.tsx'
import { useMay } from './use-may.ts'

interface CustomDomainsProps {
  readonly environmentId: string
  readonly serviceId: string
  readonly operations: DomainOperations
}

/** The custom domains of a service, with the records that prove them. */
export function CustomDomains({ environmentId, serviceId, operations }: CustomDomainsProps) {
  const { data, refetch } = useSuspenseQuery(customDomains(environmentId, operations, serviceId))
  const [form, setForm] = useState<CustomDomain | 'new'>()
  const check = useMutation({
    mutationFn: async () => (await operations.check(serviceId)).results,
    onSuccess: () => void refetch(),
  })
  const actions = (
    <>
      <Button
        isBusy={check.isPending}
        refusal={data.length === 0 ? 'there is no custom domain' : undefined}
        onClick={() => check.mutate()}
      >
        Check DNS
      </Button>
      <Button look="main" refusal={useMay()('createApplicationCustomDomain')} onClick={() => setForm('new')}>
        Add a domain
      </Button>
    </>
  )
  return (
    <Section title="Custom domains" actions={actions}>
      <Problem error={check.error} />
      {data.length === 0 && <Empty>A domain of yours leads here once DNS proves that it is yours.</Empty>}
      {data.map((domain) => (
        <DomainItem
          key={domain.id}
          domain={domain}
          checked={resultOf(check.data, domain)}
          onEdit={() => setForm(domain)}
          remove={() => operations.remove(serviceId, domain.id)}
          {...{ environmentId, serviceId, operations }}
        />
      ))}
      {form && (
        <DomainForm
          {...{ environmentId, serviceId, operations }}
          given={form === 'new' ? undefined : form}
          onClose={() => setForm(undefined)}
        />
      )}
    </Section>
  )
}

/** Pure: the result of the last check of a domain, as a sentence. */
function resultOf(results: readonly CheckedDomain[] | undefined, { domain }: CustomDomain): string | undefined {
  const result = results?.find(({ domain_name: name }) => name === domain)
  return result && `DNS now: ${wordsOf(result.status)}. ${result.error_details ?? ''}`
}

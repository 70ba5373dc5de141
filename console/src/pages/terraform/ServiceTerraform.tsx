import type { KindName } from '@quayside/contract/services/kinds.ts'
import { useState } from 'react'
import { Button } from '../../ui/Button.tsx'
import { Section } from '../../ui/Page.tsx'
import { AsTerraform } from './AsTerraform.tsx'

interface ServiceTerraformProps {
  readonly environmentId: string
  readonly kind: KindName
  readonly name: string
}

/** The stored settings of a service for people who keep them as code. */
export function ServiceTerraform({ environmentId, kind, name }: ServiceTerraformProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Section title="As code">
      <p>The stored settings as a resource of Terraform. Secrets become variables without values.</p>
      <Button onClick={() => setOpen(true)}>As Terraform …</Button>
      {isOpen && <AsTerraform of={{ environmentId }} {...{ kind, name }} onClose={() => setOpen(false)} />}
    </Section>
  )
}

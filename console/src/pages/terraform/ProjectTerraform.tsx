import { useState } from 'react'
import { Button } from '../../ui/Button.tsx'
import { Section } from '../../ui/Page.tsx'
import { AsTerraform } from './AsTerraform.tsx'

interface ProjectTerraformProps {
  readonly projectId: string
  readonly name: string
}

/** A project with all its environments for people who keep them as code. */
export function ProjectTerraform({ projectId, name }: ProjectTerraformProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Section title="As code">
      <p>
        The project with all environments that you may read, as a configuration of Terraform. Secrets become variables
        without values.
      </p>
      <Button onClick={() => setOpen(true)}>As Terraform …</Button>
      {isOpen && <AsTerraform of={{ projectId }} name={name} onClose={() => setOpen(false)} />}
    </Section>
  )
}

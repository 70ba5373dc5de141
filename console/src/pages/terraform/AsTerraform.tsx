import type { KindName } from '@quayside/contract/services/kinds.ts'
import { useQuery } from '@tanstack/react-query'
import { terraformExport } from '../../api/reads-export.ts'
import { serviceBlock } from '../../api/terraform-blocks.ts'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { FixedText } from '../../ui/FixedText.tsx'
import { PlainDialog } from '../../ui/PlainDialog.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { saveFile } from '../save-file.ts'

interface AsTerraformProps {
  readonly environmentId: string
  readonly name: string
  /** Only the service of this kind with the name. Without it, the whole environment. */
  readonly kind?: KindName
  readonly onClose: () => void
}

/** A dialog with a service or an environment as a configuration of Terraform. */
export function AsTerraform({ environmentId, name, kind, onClose }: AsTerraformProps) {
  const { data: files, error } = useQuery(terraformExport(environmentId))
  const main = files?.get('main.tf') ?? ''
  const text = kind ? (serviceBlock(main, kind, name) ?? '') : main
  const variables = kind ? '' : (files?.get('variables.tf') ?? '')
  const actions = (
    <>
      {variables !== '' && (
        <Button onClick={() => saveFile('variables.tf', 'text/plain', variables)}>Download variables.tf</Button>
      )}
      <Button onClick={() => saveFile('main.tf', 'text/plain', text)}>Download main.tf</Button>
      <CopyButton textOf={() => text}>Copy the configuration</CopyButton>
    </>
  )
  return (
    <PlainDialog title={`${name} as Terraform`} onClose={onClose} actions={files && actions}>
      <Problem error={error} />
      {!files && !error && <p role="status">Writing the configuration …</p>}
      {files && (
        <>
          <FixedText label="main.tf" hint={hintOf(kind)} text={text} />
          {variables !== '' && (
            <FixedText label="variables.tf" hint="Each secret is a variable without a value." text={variables} />
          )}
        </>
      )}
    </PlainDialog>
  )
}

const hintOf = (kind: KindName | undefined): string =>
  kind
    ? 'The block of this service for the provider qovery/qovery. It refers to the environment and its stage.'
    : 'For the provider qovery/qovery: the environment with its stages, services and variables.'

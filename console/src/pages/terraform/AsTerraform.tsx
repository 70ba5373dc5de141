import type { KindName } from '@quayside/contract/services/kinds.ts'
import { useQuery } from '@tanstack/react-query'
import { type Exportable, terraformExport } from '../../api/reads-export.ts'
import { serviceBlock } from '../../api/terraform-blocks.ts'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { FixedText } from '../../ui/FixedText.tsx'
import { PlainDialog } from '../../ui/PlainDialog.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { saveFile } from '../save-file.ts'

interface AsTerraformProps {
  /** The environment or the project. */
  readonly of: Exportable
  readonly name: string
  /** Only the service of this kind with the name. Without it, everything. */
  readonly kind?: KindName
  readonly onClose: () => void
}

/** A dialog with a service, an environment or a project as a configuration of Terraform. */
export function AsTerraform({ of, name, kind, onClose }: AsTerraformProps) {
  const { data: files, error } = useQuery(terraformExport(of))
  const shown = files ? shownFiles(files, name, kind) : []
  const variables = kind ? '' : (files?.get('variables.tf') ?? '')
  /** Terraform reads one file like several ones. */
  const text = shown.map(([, content]) => content).join('\n')
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
      {shown.map(([label, content], index) => (
        <FixedText key={label} label={label} hint={index === 0 ? hintOf(of, kind) : ''} text={content} />
      ))}
      {variables !== '' && (
        <FixedText label="variables.tf" hint="Each secret is a variable without a value." text={variables} />
      )}
    </PlainDialog>
  )
}

type File = readonly [name: string, text: string]

/** Pure: the files with resources, or the block of one service. */
function shownFiles(files: ReadonlyMap<string, string>, name: string, kind: KindName | undefined): readonly File[] {
  if (kind) return [['main.tf', serviceBlock(files.get('main.tf') ?? '', kind, name) ?? '']]
  return [...files].filter(([file]) => file !== 'variables.tf')
}

function hintOf(of: Exportable, kind: KindName | undefined): string {
  if (kind)
    return 'The block of this service for the provider qovery/qovery. It refers to the environment and its stage.'
  const what =
    'projectId' in of
      ? 'the project with its variables, and a file for each environment. Copies and downloads have all of them'
      : 'the environment with its stages, services and variables'
  return `For the provider qovery/qovery: ${what}.`
}

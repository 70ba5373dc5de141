import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { aboutRestrictions, type KindWithRestrictions, restrictions, restrictionsOf } from '../api/restrictions.ts'
import { useForm } from '../api/use-form.ts'
import { asBody } from '../forms/draft.ts'
import { FormFields } from '../forms/FormFields.tsx'
import type { FieldSpec } from '../forms/fields.ts'
import { Button } from '../ui/Button.tsx'
import { FormDialog } from '../ui/Dialog.tsx'
import { Empty, Section } from '../ui/Page.tsx'
import { Problem } from '../ui/Problem.tsx'
import { Table } from '../ui/Table.tsx'
import { RemoveButton } from './settings/RemoveButton.tsx'

const words = { MATCH: 'only changes inside', EXCLUDE: 'no changes inside' } as const
const fields: readonly FieldSpec[] = [
  {
    path: 'mode',
    label: 'A push deploys',
    type: 'select',
    options: [
      { value: 'MATCH', label: words.MATCH },
      { value: 'EXCLUDE', label: words.EXCLUDE },
    ],
  },
  {
    path: 'value',
    label: 'Path',
    type: 'text',
    isRequired: true,
    placeholder: 'services/shop',
    hint: 'Inside the repository.',
  },
]
const initial = { mode: 'MATCH', type: 'PATH', value: '' }

interface RestrictionsProps {
  readonly environmentId: string
  readonly kind: KindWithRestrictions
  readonly serviceId: string
}

/** Which changes of its repository deploy a service by themselves. */
export function Restrictions({ environmentId, kind, serviceId }: RestrictionsProps) {
  const { data, error } = useQuery(restrictions(environmentId, kind, serviceId))
  const [isAdding, setAdding] = useState(false)
  return (
    <Section title="Pushes that deploy" actions={<Button onClick={() => setAdding(true)}>Add a restriction</Button>}>
      <Problem error={error} />
      {data?.length === 0 && <Empty>Each push to the branch, if the service deploys pushes.</Empty>}
      {data && data.length > 0 && (
        <Table label="Restrictions" columns={['A push deploys', 'Path', 'Actions']}>
          {data.map(({ id, mode, value }) => (
            <tr key={id}>
              <td>{words[mode]}</td>
              <td>
                <code>{value}</code>
              </td>
              <td>
                <RemoveButton
                  action="Remove"
                  what={`the restriction of “${value}”`}
                  remove={() => restrictionsOf[kind].remove(serviceId, id)}
                  makesOld={aboutRestrictions(environmentId, serviceId)}
                >
                  <p>The next push counts without it.</p>
                </RemoveButton>
              </td>
            </tr>
          ))}
        </Table>
      )}
      {isAdding && <AddRestriction {...{ environmentId, kind, serviceId }} onClose={() => setAdding(false)} />}
    </Section>
  )
}

function AddRestriction({ environmentId, kind, serviceId, onClose }: RestrictionsProps & { onClose: () => void }) {
  const form = useForm({
    fields,
    initial,
    send: (draft) => restrictionsOf[kind].add(serviceId, asBody(draft)),
    changes: [aboutRestrictions(environmentId, serviceId)],
    onDone: onClose,
  })
  return (
    <FormDialog title="Add a restriction" isOpen onClose={onClose} action="Add" {...form.dialog}>
      <FormFields {...form.inputs} />
    </FormDialog>
  )
}

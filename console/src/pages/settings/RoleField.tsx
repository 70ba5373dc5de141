import { useSuspenseQuery } from '@tanstack/react-query'
import { roles } from '../../api/reads-organization.ts'
import { SelectField } from '../../ui/Field.tsx'

interface RoleFieldProps {
  readonly organizationId: string
  readonly value: string
  readonly onChange: (roleId: string) => void
}

/** A role of the organization. The one of the owner is not given away like this. */
export function RoleField({ organizationId, value, onChange }: RoleFieldProps) {
  const { data } = useSuspenseQuery(roles(organizationId))
  const options = data.filter(({ name }) => name !== 'Owner').map(({ id, name }) => ({ value: id, label: name }))
  return <SelectField label="Role" value={value} onChange={onChange} options={options} />
}

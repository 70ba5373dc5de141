import type { Ending, EndingName } from '../../api/endings.ts'
import { SelectField } from '../../ui/Field.tsx'

interface EndingFieldProps {
  readonly label: string
  /** A kind of service with one way to end has none. */
  readonly endings: readonly Ending[] | undefined
  readonly value: EndingName
  readonly onChange: (value: EndingName) => void
}

/** The choice of what an end of a service erases, with the things that it leaves. */
export function EndingField({ label, endings, value, onChange }: EndingFieldProps) {
  if (!endings) return null
  const chosen = endings.find((one) => one.value === value)
  return (
    <>
      <SelectField
        label={label}
        value={value}
        options={endings}
        onChange={(next) => onChange(endings.find((one) => one.value === next)?.value ?? 'ALL')}
      />
      {chosen?.leaves && <p role="status">{chosen.leaves}</p>}
    </>
  )
}

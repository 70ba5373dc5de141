import field from './Field.module.css'
import { Field } from './Field.tsx'

interface FixedTextProps {
  readonly label: string
  readonly hint: string
  readonly text: string
}

/** A text of several lines that is read and copied, not edited. */
export const FixedText = ({ label, hint, text }: FixedTextProps) => (
  <Field label={label} hint={hint}>
    {({ id, describedBy }) => (
      <textarea
        id={id}
        className={`${field['control']} ${field['fixed']}`}
        readOnly
        rows={Math.min(18, text.split('\n').length + 1)}
        value={text}
        aria-describedby={describedBy}
      />
    )}
  </Field>
)

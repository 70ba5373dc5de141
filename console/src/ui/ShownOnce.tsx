import { useState } from 'react'
import { Button } from './Button.tsx'
import field from './Field.module.css'
import { Field } from './Field.tsx'
import { PlainDialog } from './PlainDialog.tsx'

interface ShownOnceProps {
  readonly title: string
  readonly label: string
  readonly value: string
  /** A sentence that says how to use it. */
  readonly hint: string
  readonly onClose: () => void
}

/** A text that leaves with this dialog. Nothing keeps it afterwards. */
export function ShownOnce({ title, label, value, hint, onClose }: ShownOnceProps) {
  const [said, setSaid] = useState('')
  const copy = (): void =>
    void navigator.clipboard.writeText(value).then(
      () => setSaid('Copied.'),
      () => setSaid('The browser does not let this page copy. Select the text and copy it yourself.'),
    )
  const button = (
    <Button look="main" onClick={copy}>
      Copy
    </Button>
  )
  return (
    <PlainDialog title={title} onClose={onClose} actions={button} said={said}>
      <Field label={label} hint={hint}>
        {({ id, describedBy }) => (
          <input
            id={id}
            className={`${field['control']} ${field['fixed']}`}
            readOnly
            value={value}
            aria-describedby={describedBy}
            onFocus={({ target }) => target.select()}
          />
        )}
      </Field>
    </PlainDialog>
  )
}

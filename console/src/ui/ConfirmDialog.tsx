import { type ReactNode, useState } from 'react'
import type { Preview } from './AsCurl.tsx'
import { FormDialog } from './Dialog.tsx'
import { TextField } from './Field.tsx'
import { Losses } from './Losses.tsx'

interface ConfirmDialogProps {
  /** The thing that is deleted, such as "environment". */
  readonly noun: string
  readonly name: string
  /** The things that are lost with it. */
  readonly losses: readonly string[]
  readonly isBusy: boolean
  readonly error: unknown
  readonly onConfirm: () => void
  /** The requests that it would send. */
  readonly preview: Preview
  readonly onClose: () => void
  /** Choices about the deletion. */
  readonly children?: ReactNode
}

/** Says what a deletion loses, and deletes once the name was typed. */
export function ConfirmDialog({ noun, name, losses, isBusy, error, ...rest }: ConfirmDialogProps) {
  const { onConfirm, preview, onClose, children } = rest
  const [typed, setTyped] = useState('')
  return (
    <FormDialog
      title={`Delete the ${noun} “${name}”`}
      isOpen
      onClose={onClose}
      action={`Delete the ${noun}`}
      look="danger"
      isBusy={isBusy}
      error={error}
      refusal={typed === name ? undefined : 'the name is not typed yet'}
      onSubmit={onConfirm}
      preview={preview}
    >
      {children}
      <Losses losses={losses} />
      <TextField label={`Type “${name}” to confirm`} value={typed} onChange={setTyped} />
    </FormDialog>
  )
}

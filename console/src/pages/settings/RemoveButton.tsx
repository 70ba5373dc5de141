import { type ReactNode, useState } from 'react'
import { useChange } from '../../api/change.ts'
import { Button } from '../../ui/Button.tsx'
import { FormDialog } from '../../ui/Dialog.tsx'

interface RemoveButtonProps {
  /** The word on the button, such as "Remove". */
  readonly action: string
  /** The thing that leaves, such as `the member "Ada"`. */
  readonly what: string
  readonly refusal?: string | undefined
  readonly remove: () => Promise<unknown>
  /** The beginning of the keys of all reads that the removal makes old. */
  readonly makesOld: readonly string[]
  /** The effect, in a sentence. */
  readonly children: ReactNode
}

/** A button that asks before something is lost. */
export function RemoveButton({ action, what, refusal, remove, makesOld, children }: RemoveButtonProps) {
  const [isAsking, setAsking] = useState(false)
  const change = useChange({ change: remove, makesOld, onDone: () => setAsking(false) })
  const close = (): void => {
    setAsking(false)
    change.reset()
  }
  return (
    <>
      <Button refusal={refusal} onClick={() => setAsking(true)} label={`${action} ${what}`}>
        {action}
      </Button>
      <FormDialog
        title={`${action} ${what}?`}
        isOpen={isAsking}
        onClose={close}
        action={action}
        look="danger"
        isBusy={change.isPending}
        error={change.error}
        onSubmit={() => change.mutate()}
        preview={() => change.preview()}
      >
        {children}
      </FormDialog>
    </>
  )
}

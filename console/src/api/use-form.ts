import { useMutation } from '@tanstack/react-query'
import { type Draft, isSame } from '../forms/draft.ts'
import { type FieldSpec, fieldIn, hasField, labelsOf } from '../forms/fields.ts'
import { withSecrets } from './change.ts'
import { messageOf, queries } from './client.ts'
import { useLiveDraft } from './live-draft.ts'
import { sendOrShow } from './next-change.ts'
import { recordRequests } from './record-requests.ts'

interface FormOptions<T> {
  readonly fields: readonly FieldSpec[] | ((draft: Draft) => readonly FieldSpec[])
  /** The values at the beginning, and after a reset. */
  readonly initial: Draft
  readonly send: (draft: Draft) => Promise<T>
  /** The texts that a preview hides although their names do not say that they are secret. */
  readonly secrets?: (draft: Draft) => readonly string[]
  /** The beginnings of the keys of the reads that it makes old. */
  readonly changes: readonly (readonly string[])[]
  readonly onDone?: (answer: T) => void | Promise<void>
}

/** A form of the API: its values, whether they were changed, and the message about each field. */
export function useForm<T>({ fields: table, initial, send, secrets, changes, onDone }: FormOptions<T>) {
  const sending = useMutation({
    mutationFn: send,
    onSuccess: async (answer) => {
      await Promise.all(changes.map((queryKey) => queries.invalidateQueries({ queryKey })))
      await onDone?.(answer)
    },
  })
  const isAccepted = sending.isPending || sending.isSuccess
  const { draft, setDraft, others, reset } = useLiveDraft(initial, isAccepted ? sending.variables : undefined)
  const fields = typeof table === 'function' ? table(draft) : table
  const { error } = sending
  const message = error ? messageOf(error) : ''
  const named = fieldIn(message)
  const shown = named !== undefined && hasField(fields, named) ? named : undefined
  const preview = async () => withSecrets(await recordRequests(() => send(draft)), secrets?.(draft) ?? [])
  const sent = {
    /** The error, if no field shows it. */
    error: shown === undefined ? error : undefined,
    isBusy: sending.isPending,
    submit: () => sendOrShow(() => sending.mutate(draft), preview),
    /** Returns the requests that it would send. */
    preview,
    /** The labels of the fields that somebody else has changed, while there is unsaved input. */
    others: others && { taken: labelsOf(fields, others.taken), kept: labelsOf(fields, others.kept) },
  }
  return {
    /** For FormFields. */
    inputs: {
      fields,
      draft,
      onChange: setDraft,
      problemAt: (path: string) => (path === shown ? message : undefined),
    },
    draft,
    ...sent,
    /** For FormDialog. */
    dialog: {
      isBusy: sent.isBusy,
      error: sent.error,
      others: sent.others,
      onSubmit: sent.submit,
      preview: sent.preview,
    },
    isSent: sending.isSuccess,
    isDirty: !isSame(draft, initial),
    reset: () => {
      reset()
      sending.reset()
    },
  }
}

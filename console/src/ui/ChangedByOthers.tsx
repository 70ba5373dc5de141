import { Notice } from './Notice.tsx'

/** The labels of fields. Undefined if nobody else has changed the record. */
export type OthersFields = { readonly taken: readonly string[]; readonly kept: readonly string[] } | undefined

interface ChangedByOthersProps {
  readonly fields: OthersFields
}

/** Says that somebody else changed the record of a form that has unsaved input. */
export function ChangedByOthers({ fields }: ChangedByOthersProps) {
  if (!fields) return null
  const { taken, kept } = fields
  return (
    <Notice>
      <span>
        The record has changed meanwhile. Your input is kept.
        {taken.length > 0 && ` New in this form: ${taken.join(', ')}.`}
        {kept.length > 0 && ` Changed by you and by somebody else: ${kept.join(', ')}. Saving keeps your values.`}
      </span>
    </Notice>
  )
}

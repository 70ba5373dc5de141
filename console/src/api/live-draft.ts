import { useState } from 'react'
import { type Draft, isSame } from '../forms/draft.ts'
import { rebase } from '../forms/rebase.ts'
import { useUnsaved } from './unsaved.ts'

/** The paths of fields that somebody else changed while a form had unsaved input. */
export interface OthersChange {
  readonly taken: readonly string[]
  readonly kept: readonly string[]
}

/**
 * The draft of a form whose record may change while it is open. A draft without changes follows the
 * record. Otherwise it keeps its changes, and `others` says which fields somebody else has changed.
 * `sent` is the draft that was sent last, unless it was refused.
 */
export function useLiveDraft(record: Draft, sent: Draft | undefined) {
  const [base, setBase] = useState(record)
  const [draft, setDraft] = useState(record)
  const [others, setOthers] = useState<OthersChange>()
  if (!isSame(base, record)) {
    setBase(record)
    const isOwn = isSame(draft, base) || (sent !== undefined && isSame(draft, sent))
    const { draft: next, taken, kept } = isOwn ? { draft: record, taken: [], kept: [] } : rebase(base, draft, record)
    setDraft(next)
    setOthers(taken.length + kept.length > 0 ? { taken, kept } : undefined)
  }
  useUnsaved(!isSame(draft, record))
  return {
    draft,
    setDraft,
    /** Undefined if nobody else has changed the record since the unsaved input began. */
    others: isSame(draft, record) ? undefined : others,
    reset: () => {
      setDraft(record)
      setOthers(undefined)
    },
  }
}

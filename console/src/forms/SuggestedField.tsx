import { type ComponentProps, useState } from 'react'
import { type Suggestion, useSuggestions } from '../api/suggestions.ts'
import { TextField } from '../ui/Field.tsx'

interface SuggestedFieldProps extends ComponentProps<typeof TextField> {
  /** Called when somebody enters the field. */
  readonly suggest: () => Suggestion | undefined
}

/** A text whose usual values a registry or a provider knows. They are asked for on entering it. */
export function SuggestedField({ suggest, suggestions = [], ...props }: SuggestedFieldProps) {
  const [isEntered, setEntered] = useState(false)
  const found = useSuggestions(isEntered ? suggest() : undefined)
  return <TextField {...props} suggestions={found.length > 0 ? found : suggestions} onFocus={() => setEntered(true)} />
}

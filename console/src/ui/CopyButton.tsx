import { useState } from 'react'
import { Button } from './Button.tsx'

interface CopyButtonProps {
  readonly children: string
  /** Returns the text when it is copied. */
  readonly textOf: () => string
}

/** Copies a text, and says whether that worked. */
export function CopyButton({ children, textOf }: CopyButtonProps) {
  const [said, setSaid] = useState('')
  const copy = (): void =>
    void navigator.clipboard.writeText(textOf()).then(
      () => setSaid('Copied.'),
      () => setSaid('The browser does not let this page copy.'),
    )
  return (
    <>
      <Button onClick={copy}>{children}</Button>
      <span role="status">{said}</span>
    </>
  )
}

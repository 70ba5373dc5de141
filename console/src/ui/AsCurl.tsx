import { useState } from 'react'
import { asCurl, type RecordedRequest, secretMark } from '../api/as-curl.ts'
import { Button } from './Button.tsx'
import { CopyButton } from './CopyButton.tsx'
import { FixedText } from './FixedText.tsx'
import { PlainDialog } from './PlainDialog.tsx'
import { Problem } from './Problem.tsx'

/** Returns the requests that a form would send now. */
export type Preview = () => Promise<readonly RecordedRequest[]>

const hint = 'Set QUAYSIDE_TOKEN to a token of the API first.'
const secretHint = `${hint} Replace ${secretMark} by the secret.`

/** A dialog with the request of a form as a command. It sends nothing. */
export function AsCurl({ preview }: { readonly preview: Preview }) {
  const [text, setText] = useState<string>()
  const [error, setError] = useState<unknown>()
  const close = (): void => {
    setText(undefined)
    setError(undefined)
  }
  return (
    <>
      <Button onClick={() => void preview().then((requests) => setText(asCurl(requests)), setError)}>As curl …</Button>
      {text !== undefined && <Command text={text} onClose={close} />}
      {error !== undefined && (
        <PlainDialog title="The same with curl" onClose={close}>
          <Problem error={error} />
        </PlainDialog>
      )}
    </>
  )
}

const Command = ({ text, onClose }: { readonly text: string; readonly onClose: () => void }) => (
  <PlainDialog
    title="The same with curl"
    onClose={onClose}
    actions={<CopyButton textOf={() => text}>Copy the command</CopyButton>}
  >
    <FixedText label="Command" hint={text.includes(secretMark) ? secretHint : hint} text={text} />
  </PlainDialog>
)

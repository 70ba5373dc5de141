import { useState } from 'react'
import { asCurl, fileMark, type RecordedRequest, secretMark } from '../api/as-curl.ts'
import { Button } from './Button.tsx'
import { CopyButton } from './CopyButton.tsx'
import { FixedText } from './FixedText.tsx'
import { PlainDialog } from './PlainDialog.tsx'
import { Problem } from './Problem.tsx'

/** Returns the requests that a form would send now. */
export type Preview = () => Promise<readonly RecordedRequest[]>

const title = 'The same with curl'

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
      {text !== undefined && <CurlCommand text={text} onClose={close} />}
      {error !== undefined && <CurlProblem error={error} onClose={close} />}
    </>
  )
}

/** A dialog with a command that is read and copied. */
export const CurlCommand = ({ text, onClose }: { readonly text: string; readonly onClose: () => void }) => (
  <PlainDialog title={title} onClose={onClose} actions={<CopyButton textOf={() => text}>Copy the command</CopyButton>}>
    <FixedText label="Command" hint={hintOf(text)} text={text} />
  </PlainDialog>
)

/** A dialog about a change that cannot be shown as a command. */
export const CurlProblem = ({ error, onClose }: { readonly error: unknown; readonly onClose: () => void }) => (
  <PlainDialog title={title} onClose={onClose}>
    <Problem error={error} />
  </PlainDialog>
)

const hintOf = (text: string): string =>
  [
    'Set QUAYSIDE_TOKEN to a token of the API first.',
    ...(text.includes(secretMark) ? [`Replace ${secretMark} by the secret.`] : []),
    ...(text.includes(`@${fileMark}`) ? [`Replace ${fileMark} by the name of the file.`] : []),
  ].join(' ')

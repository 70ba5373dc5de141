import type { ReactNode } from 'react'
import { type Piece, readAnsi } from './ansi.ts'
import styles from './LineText.module.css'
import { visibleText } from './safe-text.ts'

interface LineTextProps {
  readonly text: string
  /** A part of the text that is marked, in lower case. */
  readonly mark?: string | undefined
  /** Longer lines are cut off. */
  readonly most?: number
}

/** A line with the colours of its program. */
export function LineText({ text, mark, most = Number.POSITIVE_INFINITY }: LineTextProps) {
  const shown = text.length > most ? text.slice(0, most) : text
  return (
    <>
      {readAnsi(shown).map((piece, index) => (
        // Pieces have no identity of their own.
        // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a line never move
        <PieceText key={index} piece={piece} mark={mark} />
      ))}
      {text.length > most && (
        <span className={styles['more']}> … {(text.length - most).toLocaleString('en')} more characters</span>
      )}
    </>
  )
}

function PieceText({ piece, mark }: { readonly piece: Piece; readonly mark: string | undefined }) {
  const { text, colour, isBold, isDim } = piece
  const content = marked(visibleText(text), mark)
  if (!colour && !isBold && !isDim) return content
  return (
    <span className={styles['piece']} data-colour={colour} data-bold={isBold} data-dim={isDim}>
      {content}
    </span>
  )
}

/** Pure: the text with each place of the part marked. */
function marked(text: string, mark: string | undefined): ReactNode {
  if (!mark) return text
  const lower = text.toLowerCase()
  // Lower case may have another length. Then its places differ from the text's.
  if (lower.length !== text.length) return text
  const parts: ReactNode[] = []
  let place = 0
  for (let found = lower.indexOf(mark); found !== -1; found = lower.indexOf(mark, place)) {
    parts.push(text.slice(place, found), <mark key={found}>{text.slice(found, found + mark.length)}</mark>)
    place = found + mark.length
  }
  return parts.length === 0 ? text : [...parts, text.slice(place)]
}

import type { LineStore } from '../api/line-store.ts'
import { plainText } from '../ui/ansi.ts'
import { saveFile } from './save-file.ts'

/** Saves the lines that are shown as a file: the moment, the replica and the text of each. */
export function downloadLines({ lines }: LineStore, name: string): void {
  const parts: string[] = []
  for (let index = 0; index < lines.length; index++) {
    const line = lines.at(index)
    if (line) parts.push(`${new Date(line.at).toISOString()} ${line.pod} ${plainText(line.text)}\n`)
  }
  saveFile(`${name}.log`, 'text/plain', parts.join(''))
}

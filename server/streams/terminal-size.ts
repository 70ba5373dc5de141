import type { Terminal } from '../engines/index.ts'

interface Size {
  readonly columns: number
  readonly rows: number
}

const greatest = 1000

/** Pure: reads `{"tty_width":80,"tty_height":24}`. Undefined if the text is anything else. */
export function readSize(text: string): Size | undefined {
  const [, columns, rows] = /^\{"tty_width":(\d{1,4}),"tty_height":(\d{1,4})\}$/.exec(text) ?? []
  const size = { columns: Number(columns), rows: Number(rows) }
  const isSize = [size.columns, size.rows].every((count) => count >= 1 && count <= greatest)
  return isSize ? size : undefined
}

/**
 * Returns a function that gives a terminal the sizes in messages, one after the other. A size that
 * waits is replaced by a newer one. Other messages are ignored.
 */
export function sizesOf({ resize }: Pick<Terminal, 'resize'>): (text: string) => void {
  let wanted: Size | undefined
  let isBusy = false
  const apply = async (): Promise<void> => {
    isBusy = true
    for (let next = wanted; next; next = wanted) {
      wanted = undefined
      // A terminal that has ended has no size. The end of its bytes ends the stream.
      await resize(next.columns, next.rows).catch(() => {})
    }
    isBusy = false
  }
  return (text) => {
    wanted = readSize(text) ?? wanted
    if (wanted && !isBusy) void apply()
  }
}

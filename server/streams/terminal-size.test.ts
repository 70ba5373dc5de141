import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSize, sizesOf } from './terminal-size.ts'

test('a message has a size if both numbers are from 1 to 1000', () => {
  assert.deepEqual(readSize('{"tty_width":80,"tty_height":24}'), { columns: 80, rows: 24 })
  for (const text of ['', 'ls\n', '{"tty_width":0,"tty_height":24}', '{"tty_width":80,"tty_height":1001}', '{}'])
    assert.equal(readSize(text), undefined, text)
})

test('sizes are applied in turn, and a size that waits is replaced by a newer one', async () => {
  const applied: string[] = []
  const held = Promise.withResolvers<void>()
  const onText = sizesOf({
    resize: async (columns, rows) => {
      applied.push(`${columns}x${rows}`)
      await held.promise
    },
  })
  for (const width of [80, 90, 100]) onText(`{"tty_width":${width},"tty_height":24}`)
  held.resolve()
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(applied, ['80x24', '100x24'])
})

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'

const root = resolve(import.meta.dirname, '..', '..')
const page = readFileSync(join(root, 'docs', 'add-an-operation.md'), 'utf8')

/** Blocks of code, each with the file that its first line names and the lines that follow. */
const blocks = page
  .split('```ts\n')
  .slice(1)
  .map((text) => (text.split('\n```')[0] ?? '').split('\n'))
  .map(([first = '', ...lines]) => ({ file: first.replace('// ', ''), lines }))

/** Paths in backticks: their first folder is one of the project. */
const paths = page
  .split('`')
  .filter((_, index) => index % 2 === 1)
  .filter((text) => ['contract', 'docs', 'server', 'test'].some((folder) => text.startsWith(`${folder}/`)))

test('the page quotes code and names files', () => {
  assert.ok(blocks.length >= 4, `${blocks.length} blocks`)
  assert.ok(paths.length >= 10, `${paths.length} paths`)
})

for (const { file, lines } of blocks) {
  test(`${file} has the quoted lines, in their order`, () => {
    const text = readFileSync(join(root, file), 'utf8').split('\n')
    let from = 0
    for (const line of lines) {
      if (line.trim() === '…') continue
      const found = text.indexOf(line, from)
      assert.notEqual(found, -1, `after line ${from}: ${line}`)
      from = found + 1
    }
  })
}

for (const path of new Set(paths)) {
  test(`${path} exists`, () => {
    assert.ok(existsSync(join(root, path)))
  })
}

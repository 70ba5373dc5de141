import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const docs = join(import.meta.dirname, '../../docs')

for (const [document, least] of [
  ['faults.md', 60],
  ['security.md', 60],
] as const) {
  const page = readFileSync(join(docs, document), 'utf8')
  /** Each cell is a list of `"name", "name" in [words](file)`. */
  const named = [...page.matchAll(/((?:"[^"]+"(?:, )?)+) in \[[^\]]+\]\(([^)]+)\)/g)].flatMap(
    ([, names = '', file = '']) => [...names.matchAll(/"([^"]+)"/g)].map(([, name = '']) => ({ name, file })),
  )

  test(`${document} names many tests, and every row of it does`, () => {
    assert.ok(named.length >= least, String(named.length))
    const rows = page.split('\n').filter((line) => line.startsWith('| ') && !line.endsWith('| Test |'))
    assert.deepEqual(
      rows.filter((row) => !/" in \[/.test(row)),
      [],
    )
  })

  for (const { name, file } of named) {
    test(`${file} has "${name}"`, () => {
      const text = readFileSync(join(docs, file), 'utf8')
      const titles = [...text.matchAll(/(?:test|it)\(\s*(['`])(.*?)\1,/gs)].map(([, , title = '']) => title)
      assert.ok(
        titles.some((title) => title.replace(/\$\{[^}]+\}/g, '…').includes(name)),
        `among ${titles.join(' · ')}`,
      )
    })
  }
}

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const docs = join(import.meta.dirname, '..', 'docs')
const page = readFileSync(join(docs, 'faults.md'), 'utf8')
/** Each cell is a list of `"name", "name" in [words](file)`. */
const named = [...page.matchAll(/((?:"[^"]+"(?:, )?)+) in \[[^\]]+\]\(([^)]+)\)/g)].flatMap(
  ([, names = '', file = '']) => [...names.matchAll(/"([^"]+)"/g)].map(([, name = '']) => ({ name, file })),
)

test('the page of faults names many tests', () => {
  assert.ok(named.length > 40, String(named.length))
  assert.equal(page.match(/\]\(\.\.\//g)?.length, new Set(page.matchAll(/ in \[[^\]]+\]\(\.\.\/[^)]+\)/g)).size)
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

import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { test } from 'node:test'

const root = resolve(import.meta.dirname, '..', '..')
const decisions = globSync('docs/adr/*.md', { cwd: root }).sort()
const pages = globSync(['*.md', 'docs/**/*.md', 'test/**/*.md'], { cwd: root })

test('decisions are numbered from 1, each number once', () => {
  const numbers = decisions.map((path) => Number(path.slice('docs/adr/'.length).split('-')[0]))
  assert.deepEqual(
    numbers,
    numbers.map((_, index) => index + 1),
  )
})

for (const path of decisions) {
  test(`${path} begins with its number`, () => {
    const number = path.slice('docs/adr/'.length).split('-')[0]
    assert.ok(readFileSync(join(root, path), 'utf8').startsWith(`# ${number} `))
  })
}

/** Targets of links to files: `[words](target)`, without addresses and anchors. */
const targetsOf = (text: string): string[] =>
  [...text.matchAll(/\]\(([^()\s#]+)/g)].map(([, target = '']) => target).filter((target) => !target.includes(':'))

for (const page of pages) {
  test(`every link of ${page} leads to a file`, () => {
    const missing = targetsOf(readFileSync(join(root, page), 'utf8')).filter(
      (target) => !existsSync(join(root, dirname(page), target)),
    )
    assert.deepEqual(missing, [])
  })
}

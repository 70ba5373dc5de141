import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { before, test } from 'node:test'
import { buildConsole } from '../../bootstrap/console.mjs'
import { loadedBy, type Manifest, scriptOf } from '../../console/manifest.ts'
import { type Sizes, sizesOf } from '../../console/sizes.ts'

// The JavaScript that a browser loads, as the server sends it.

const root = resolve(import.meta.dirname, '..', '..')
const dist = join(root, 'console', 'dist')
const [firstLimitKB, moreLimitKB] = [200, 100]

let sizes: Sizes
before(async () => {
  assert.equal(await buildConsole(root, process.execPath), undefined)
  sizes = await sizesOf(dist)
})

test(`the first page loads at most ${firstLimitKB} kB of compressed JavaScript`, (t) => {
  t.diagnostic(`${sizes.first.toFixed(1)} kB`)
  assert.ok(sizes.first > 50 && sizes.first <= firstLimitKB, `${sizes.first} kB. Load later what it does not show.`)
})

test(`every other page loads at most ${moreLimitKB} kB more, its dialogs included`, (t) => {
  for (const { source, kB } of sizes.more.slice(0, 3)) t.diagnostic(`${source} ${kB.toFixed(1)} kB`)
  assert.ok(sizes.more.length > 20, `${sizes.more.length} pages`)
  assert.deepEqual(
    sizes.more.filter(({ kB }) => kB > moreLimitKB),
    [],
  )
})

test('the page of the console names every script that it needs at first', () => {
  const manifest: Manifest = JSON.parse(readFileSync(join(dist, 'manifest.json'), 'utf8'))
  const html = readFileSync(join(dist, 'index.html'), 'utf8')
  const named = [...html.matchAll(/\/assets\/([\w-]+\.js)/g)].map(([, name]) => name)
  assert.deepEqual(named.toSorted(), [...loadedBy(manifest, scriptOf(manifest, 'main.tsx'), 'before')].toSorted())
})

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const server = join(import.meta.dirname, '..', '..', 'server')

test('G15: no code passes the engine the option to fetch a build context', () => {
  const files = ['builders', 'engines'].flatMap((room) =>
    readdirSync(join(server, room), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !/\.(test|cases)\.ts$/.test(name))
      .map((name) => join(server, room, name)),
  )
  assert.ok(files.length > 50)
  for (const file of files) assert.doesNotMatch(readFileSync(file, 'utf8'), /\bremote['"]?\s*:|[?&]remote=/, file)
})

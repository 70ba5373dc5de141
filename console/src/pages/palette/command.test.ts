import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Command, findCommands } from './command.ts'

const command = (group: Command['group'], label: string, hint?: string): Command => ({
  id: `${group} ${label} ${hint}`,
  group,
  label,
  ...(hint && { hint }),
  run() {},
})
const commands = [
  command('Services', 'web', 'shop / production'),
  command('Services', 'web', 'shop / staging'),
  command('Services', 'shop', 'shop / staging'),
  command('Projects', 'shop'),
  command('This page', 'Deploy …'),
]
const found = (text: string): string[] =>
  findCommands(commands, text).flatMap(({ value, items }) =>
    items.map(({ label, hint }) => `${value}: ${label} ${hint ?? ''}`),
  )

test('every word must be in the name or in the place', () => {
  assert.deepEqual(found('WEB stag'), ['Services: web shop / staging'])
  assert.deepEqual(found('nothing'), [])
})

test('names that begin with the text come before places that contain it', () => {
  assert.deepEqual(found('shop'), [
    'Services: shop shop / staging',
    'Services: web shop / production',
    'Services: web shop / staging',
    'Projects: shop ',
  ])
})

test('without a text, the actions of the page come first', () => {
  assert.equal(found('')[0], 'This page: Deploy … ')
})

test('ten thousand services are searched within a moment', () => {
  const many = Array.from({ length: 10_000 }, (_, index) => command('Services', `service-${index}`, 'a / b'))
  const started = performance.now()
  for (const text of ['s', 'service', 'service-99', `${'e '.repeat(5_000)}x`]) findCommands(many, text)
  assert.ok(performance.now() - started < 1_000)
})

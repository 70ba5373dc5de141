import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from '../lib/log.ts'
import { createAnnouncer } from './announcer.ts'
import { joinObservers } from './service-observers.ts'

test('announcer logs a new number of replicas and has the observers of all engines look', () => {
  const done: string[] = []
  const watcher = (name: string) => ({
    endRepair: async () => {},
    look: async (service: string) => void done.push(`${name} looks at ${service}`),
    renew: () => {},
  })
  const { changed } = createAnnouncer({
    log: silentLogger,
    lines: { append: async (_, lines) => void done.push(...lines.map(({ text = '' }) => text)) },
    observer: joinObservers({ all: [watcher('first'), watcher('second')] }),
    stopping: new AbortController().signal,
  })
  changed('shop', 'Scaled from 1 to 2 replica(s) by load.')
  assert.deepEqual(done, ['Scaled from 1 to 2 replica(s) by load.', 'first looks at shop', 'second looks at shop'])
})

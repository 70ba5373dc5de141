import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock as clock } from '../../lib/clock.ts'
import { until } from '../../workflows/testing.ts'
import type { LogLine } from '../engine.ts'
import type { Listener } from './events.ts'
import { label } from './labels.ts'
import { LaterLines, type Printed } from './later-lines.ts'

const container = (id: string, state: Partial<Printed> = {}): Printed => ({
  id,
  replica: id,
  release: 'r',
  isUp: true,
  hasBegun: true,
  ...state,
})

const started = (id: string, attributes: Readonly<Record<string, string>> = {}) => ({
  action: 'start',
  container: id,
  service: 's',
  attributes: { name: id, [label.release]: 'r', ...attributes },
})

/**
 * Readers of containers that print their own id and keep running. `seen`: the lines so far;
 * `looks`: the number of looks.
 */
async function reading(
  work: (world: {
    readonly begin: (seen: readonly Printed[]) => void
    readonly tell: Listener
    readonly there: Printed[]
    readonly seen: string[]
    readonly looks: () => number
  }) => Promise<void>,
): Promise<void> {
  const end = new AbortController()
  const there: Printed[] = []
  const seen: string[] = []
  let looks = 0
  let tell: Listener = () => {}
  async function* read({ id, replica, release }: Printed): AsyncGenerator<LogLine> {
    yield { at: '2026-11-22T10:00:00.000000000Z', stream: 'stdout', text: id, replica, release }
    await clock.sleep(60_000, end.signal).catch(() => {})
  }
  const events = {
    listen: (_: string, hear: Listener) => {
      tell = hear
      return () => {}
    },
  }
  const look = async () => {
    looks++
    return there
  }
  const later = new LaterLines({ clock, events, service: 's', look, read }, end.signal)
  let following: Promise<void> | undefined
  const begin = (known: readonly Printed[]): void => {
    following = (async () => {
      for await (const { replica, text } of later.from(known)) seen.push(`${replica}: ${text}`)
    })()
  }
  await work({ begin, tell: (event) => tell(event), there, seen, looks: () => looks })
  later.stop()
  end.abort()
  await following
}

test('known containers are read without another look, except those that never started', () =>
  reading(async ({ begin, seen, looks }) => {
    begin([container('made', { isUp: false, hasBegun: false }), container('one')])
    await until('the line of the one that runs', () => seen.length === 1)
    assert.deepEqual([seen, looks()], [['one: one'], 0])
  }))

test('a started container is read once from its event, and a network holder is not read', () =>
  reading(async ({ begin, tell, seen, looks }) => {
    begin([])
    for (const event of [started('held', { [label.holder]: 'yes' }), started('two'), started('two')]) tell(event)
    tell(started('three', { name: 'third' }))
    await until('the lines of both', () => seen.length === 2)
    assert.deepEqual([seen, looks()], [['two: two', 'third: three'], 0])
  }))

test('an event between the look and the begin causes another look', () =>
  reading(async ({ begin, tell, there, seen, looks }) => {
    there.push(container('later'))
    tell(started('later'))
    begin([])
    await until('the line of the later one', () => seen.length === 1)
    assert.deepEqual([seen, looks()], [['later: later'], 1])
  }))

test('an exit or a broken connection causes another look', () =>
  reading(async ({ begin, tell, there, seen, looks }) => {
    begin([])
    there.push(container('one'))
    tell({ ...started('one'), action: 'die' })
    await until('a look', () => seen.length === 1)
    there.push(container('two'))
    tell(undefined)
    await until('another look', () => seen.length === 2)
    assert.equal(looks(), 2)
  }))

test('a line that the engine writes only after the container’s end is returned', async () => {
  const end = new AbortController()
  const there = [container('one', { isUp: false })]
  const written: string[] = []
  let given = 0
  let reads = 0
  // As after a restart of the daemon: it reports the container as ended while it still takes over
  // the output.
  async function* read({ replica, release }: Printed): AsyncGenerator<LogLine> {
    reads++
    for (; given < written.length; given++) {
      const text = written[given] ?? ''
      yield { at: `2026-11-22T10:00:0${given}.000000000Z`, stream: 'stdout', text, replica, release }
    }
    if (reads === 1) written.push('the last line')
  }
  const later = new LaterLines(
    { clock, events: { listen: () => () => {} }, service: 's', look: async () => there, read },
    end.signal,
  )
  const seen: string[] = []
  const following = (async () => {
    for await (const { text } of later.from(there)) seen.push(text)
  })()
  await until('the last line', () => seen.length === 1)
  await until('it was read in vain twice', () => reads === 4)
  later.stop()
  end.abort()
  await following
  assert.deepEqual(seen, ['the last line'])
})

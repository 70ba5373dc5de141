import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import type { Clock } from '../../lib/clock.ts'
import { systemClock } from '../../lib/clock.ts'
import { createSlots } from '../../lib/slots.ts'
import { until } from '../../workflows/testing.ts'
import type { DockerDaemon } from './daemon.ts'
import { type ContainerEvent, Events, toEvent } from './events.ts'
import { KnownStates } from './known-states.ts'
import { label } from './labels.ts'
import { LayerLimits } from './layer-limits.ts'
import { Looks } from './looks.ts'
import { pretend } from './test-daemon.ts'

const started = (service: string, instance = 'one'): string =>
  JSON.stringify({
    Type: 'container',
    Action: 'start',
    Actor: { ID: `of-${service}`, Attributes: { [label.instance]: instance, [label.service]: service } },
  })

/** Events whose listeners can all be stopped, since a line is made again while anybody listens. */
class HeardEvents extends Events {
  readonly #stops: (() => void)[] = []

  override listen(...of: Parameters<Events['listen']>): () => void {
    const stop = super.listen(...of)
    this.#stops.push(stop)
    return stop
  }

  stopAll(): void {
    for (const stop of this.#stops) stop()
  }
}

/** Events of a daemon that says what the test says; `lines` are those that are open, with what they were asked for. */
function told(
  work: (world: {
    readonly events: Events
    readonly lines: { readonly query: URLSearchParams; readonly response: ServerResponse }[]
    readonly heard: (ContainerEvent | undefined)[]
    readonly daemon: DockerDaemon
    readonly clock: Clock
    /** So much later it is from now on. */
    readonly shift: (ms: number) => void
  }) => Promise<void>,
): Promise<void> {
  const lines: { query: URLSearchParams; response: ServerResponse }[] = []
  let shiftMs = 0
  const shift = (ms: number): void => {
    shiftMs += ms
  }
  const clock: Clock = {
    ...systemClock,
    now: () => new Date(systemClock.now().getTime() + shiftMs),
    monotonic: () => systemClock.monotonic() + shiftMs,
  }
  const heard: (ContainerEvent | undefined)[] = []
  return pretend(
    (request, response) => {
      response.writeHead(200).flushHeaders()
      lines.push({ query: new URL(request.url ?? '', 'http://x').searchParams, response })
    },
    async (daemon) => {
      const events = new HeardEvents({ daemon, clock, instance: 'one', heard: (event) => void heard.push(event) })
      try {
        await work({ events, lines, heard, daemon, clock, shift })
      } finally {
        // Without listeners and recent questions it does not ask the daemon for another line.
        events.stopAll()
        shift(60_000)
      }
    },
  )
}

test('one line tells all who listen, each of its own service', () =>
  told(async ({ events, lines, heard }) => {
    const first: (ContainerEvent | undefined)[] = []
    const second: typeof first = []
    events.listen('a', (event) => void first.push(event))
    const stop = events.listen('b', (event) => void second.push(event))
    await until('both hear that there is a line', () => first.length === 1 && second.length === 1)
    lines[0]?.response.write(`${started('a')}\n${started('b')}\n${started('a', 'another')}\n`)
    const event = (service: string) => toEvent(started(service), 'one')
    await until('both hear of theirs', () => first.length === 2 && second.length === 2)
    assert.deepEqual(
      [first, second],
      [
        [undefined, event('a')],
        [undefined, event('b')],
      ],
    )
    stop()
    lines[0]?.response.write(`${started('b')}\n`)
    await until('it was told', () => heard.length === 4)
    assert.equal(second.length, 2)
    assert.equal(lines.length, 1)
  }))

test('a line that was cut is made again, and everybody hears of that', () =>
  told(async ({ events, lines, heard }) => {
    const own: (ContainerEvent | undefined)[] = []
    events.listen('a', (event) => void own.push(event))
    await until('there is a line', () => own.length === 1)
    lines[0]?.response.destroy()
    await until('there is another line', () => own.length === 2)
    assert.deepEqual(own, [undefined, undefined])
    assert.deepEqual(heard, own)
    assert.equal(lines[1]?.query.get('since'), null)
  }))

test('after a line that ended in time the next one tells what happened between them, and nobody has to look', () =>
  told(async ({ events, lines, heard, shift }) => {
    const own: (ContainerEvent | undefined)[] = []
    events.listen('a', (event) => void own.push(event))
    await until('there is a line', () => own.length === 1)
    const end = Number(lines[0]?.query.get('until'))
    shift(60_000)
    lines[0]?.response.end()
    await until('there is another line', () => lines.length === 2)
    assert.equal(Number(lines[1]?.query.get('since')), end - 2)
    lines[1]?.response.write(`${started('a')}\n`)
    await until('it tells', () => own.length === 2)
    assert.equal(own[1]?.action, 'start')
    assert.equal(heard.length, 2)
  }))

test('a look holds until something happens, nobody tells any more, or ten seconds are over', () =>
  told(async ({ events, lines, daemon, clock, shift }) => {
    const host = {
      daemon,
      clock,
      instance: 'one',
      events,
      hasInit: async () => false,
      layers: new LayerLimits({ daemon, whenRefused: () => {} }),
      maxImageBytes: Number.POSITIVE_INFINITY,
      madeTasks: new Set<string>(),
      making: createSlots(1),
      postStarted: new Map(),
      networksToCome: new Map(),
    }
    const looks = new Looks(host, new KnownStates())
    let lists = 0
    const list = async () => {
      lists++
      return []
    }
    const look = () => looks.all(list, AbortSignal.timeout(60_000))
    await look()
    await until('the daemon tells', () => events.count() !== undefined)
    assert.equal(lists, 1)
    const first = await look()
    assert.equal(await look(), first)
    assert.equal(lists, 2)
    const count = events.count()
    lines[0]?.response.write(`${JSON.stringify({ Type: 'network', Action: 'disconnect', Actor: { ID: 'n' } })}\n`)
    await until('it was told', () => events.count() !== count)
    await look()
    assert.equal(lists, 3)
    events.happened()
    await look()
    assert.equal(lists, 4)
    shift(10_000)
    await look()
    assert.equal(lists, 5)
    lines[0]?.response.destroy()
    await until('nobody tells', () => events.count() === undefined)
    await look()
    assert.equal(lists, 6)
  }))

test('who looks again and again waits for news, as long as the daemon tells of any', () =>
  told(async ({ events, lines }) => {
    const news = events.news('a')
    const other = events.news('b')
    const signal = AbortSignal.timeout(60_000)
    const [never, now] = [3_600_000, 1]
    // A new line is news, too. The wait begins before there can be one.
    const line = news.wait({ toldMs: never, untoldMs: never }, signal)
    await other.wait({ toldMs: never, untoldMs: now }, signal)
    other.stop()
    await line
    await until('the daemon tells', () => events.count() !== undefined)
    lines[0]?.response.write(`${started('b')}\n${started('a')}\n`)
    await news.wait({ toldMs: never, untoldMs: never }, signal)
    await news.wait({ toldMs: now, untoldMs: never }, signal)
    const cancel = new AbortController()
    const waiting = assert.rejects(news.wait({ toldMs: never, untoldMs: never }, cancel.signal))
    cancel.abort()
    await waiting
    news.stop()
  }))

test('reads what happened to containers of this installation only', () => {
  const attributes = { [label.instance]: 'one', [label.service]: 'a' }
  assert.deepEqual(toEvent(started('a'), 'one'), { action: 'start', container: 'of-a', service: 'a', attributes })
  assert.equal(toEvent(started('a'), 'another'), undefined)
  assert.equal(toEvent(started('a').replace('container', 'network'), 'one'), undefined)
  assert.equal(toEvent('{"Type":"container","Action":"start"}', 'one'), undefined)
})

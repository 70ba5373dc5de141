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

/** Events whose listeners can all be stopped: a connection is reopened while any remains. */
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

/** Events of a fake daemon; `lines` are its open connections, with their queries. */
function told(
  work: (world: {
    readonly events: Events
    readonly lines: { readonly query: URLSearchParams; readonly response: ServerResponse }[]
    readonly heard: (ContainerEvent | undefined)[]
    readonly daemon: DockerDaemon
    readonly clock: Clock
    /** Advances the clock. */
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
        // Without listeners and recent requests it opens no further connection.
        events.stopAll()
        shift(60_000)
      }
    },
  )
}

test('one connection serves all listeners, each with its own service', () =>
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

test('a broken connection is reopened, and every listener is notified', () =>
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

test('after a connection that ended on time the next one reports the events between, so no look is needed', () =>
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

test('an observation is valid until an event, a broken connection, or ten seconds', () =>
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

test('a repeated look waits for an event while the daemon sends events', () =>
  told(async ({ events, lines }) => {
    const news = events.news('a')
    const other = events.news('b')
    const signal = AbortSignal.timeout(60_000)
    const [never, now] = [3_600_000, 1]
    // A new connection counts as an event. The wait begins before it can exist.
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

test('events of other installations are ignored', () => {
  const attributes = { [label.instance]: 'one', [label.service]: 'a' }
  assert.deepEqual(toEvent(started('a'), 'one'), { action: 'start', container: 'of-a', service: 'a', attributes })
  assert.equal(toEvent(started('a'), 'another'), undefined)
  assert.equal(toEvent(started('a').replace('container', 'network'), 'one'), undefined)
  assert.equal(toEvent('{"Type":"container","Action":"start"}', 'one'), undefined)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock as clock } from '../lib/clock.ts'
import { createRoster } from '../lib/roster.ts'
import { createEngines, enginesOfRow, NoEngineError, reconcilerName } from './engines.ts'
import { FakeEngine } from './fake/fake-engine.ts'

const [first, second] = [new FakeEngine({ clock }), new FakeEngine({ clock })]
const roster = createRoster([
  { name: 'local', engine: first },
  { name: 'second', engine: second },
])
const engines = createEngines(roster)

test('engineOf returns the engine of the cluster, and throws if it has none', () => {
  assert.equal(engines.engineOf({ engine: 'local' }), first)
  assert.equal(engines.engineOf({ engine: 'second' }), second)
  assert.throws(() => engines.engineOf({ engine: null }), NoEngineError)
  assert.throws(() => engines.engineOf({ engine: 'third' }), /needs the engine "third"/)
  assert.equal(engines.capabilitiesOf({ engine: 'second' }), second.capabilities)
  assert.equal(engines.capabilitiesOf({ engine: 'third' }), undefined)
})

test('capacityOf returns the capacity of the cluster’s engine, or of the first one', () => {
  second.capacity = { cpuMilli: 500, memoryMiB: 256, architecture: 'ARM64' }
  assert.equal(engines.capacityOf({ engine: 'second' }), second.capacity)
  assert.equal(engines.capacityOf({ engine: null }), first.capacity)
  assert.equal(engines.capacityOf({ engine: 'third' }), first.capacity)
  assert.throws(() => createEngines(createRoster()), /no engine/)
})

test('an engine comes and goes', () => {
  const third = new FakeEngine({ clock })
  roster.add({ name: 'third', engine: third })
  assert.equal(engines.engineOf({ engine: 'third' }), third)
  assert.equal(engines.all.length, 3)
  roster.remove('third')
  assert.throws(() => engines.engineOf({ engine: 'third' }), /needs the engine "third"/)
})

test('enginesOfRow returns all engines if the service no longer has a row', () => {
  assert.deepEqual(enginesOfRow(engines, { cluster_engine: 'second' }), [second])
  assert.deepEqual(enginesOfRow(engines, undefined), [first, second])
})

test('reconcilerName names every engine except the one of this machine', () => {
  assert.deepEqual([reconcilerName('liveness', 'local'), reconcilerName('liveness', 'b')], ['liveness', 'liveness (b)'])
})

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { addPlace, addService } from '../variables/testing.ts'
import { testVault } from '../vault/testing.ts'
import { listResources } from './stack-store.ts'
import { createStacks, type StackOwner } from './stacks.ts'
import { readState } from './state-file.ts'
import { keptSerial } from './state-store.ts'
import { restoreState, stateVersions } from './state-versions.ts'

const database = (await testDatabase({ after })).sql
const vault = await testVault({ after }, database)
const stacks = createStacks({ vault, clock })
const place = await addPlace(database)

const newOwner = async (): Promise<StackOwner> => {
  const { environmentId, organizationId } = place.service
  const { serviceId } = await addService(database, place.environment, 'terraform')
  return { serviceId, environmentId, organizationId }
}
const textOf = (serial: number): string => JSON.stringify({ version: 4, serial, lineage: 'one', resources: [] })
const snapshot = async (owner: StackOwner, run: string, serial: number): Promise<void> => {
  const state = await readState(Buffer.from(textOf(serial)))
  assert.ok(state)
  await database.begin((sql) => stacks.keepSnapshot(sql, owner, run, state))
}
const versions = async ({ serviceId }: StackOwner) => [
  ...(await database<{ number: number; serial: number }[]>`
    select number, serial::float8 as serial from stack_state where service_id = ${serviceId} order by number`),
]

test('states of one run replace each other, and another run begins a version', async () => {
  const owner = await newOwner()
  const [first, second] = [newId(), newId()]
  for (const serial of [1, 2, 5]) await snapshot(owner, first, serial)
  assert.deepEqual(await versions(owner), [{ number: 1, serial: 5 }])
  assert.equal(await stacks.openState(database, owner), textOf(5))
  await snapshot(owner, second, 6)
  assert.deepEqual(await versions(owner), [
    { number: 1, serial: 5 },
    { number: 2, serial: 6 },
  ])
})

test('an older state of a run replaces nothing', async () => {
  const owner = await newOwner()
  const run = newId()
  for (const serial of [4, 3, 4]) await snapshot(owner, run, serial)
  assert.equal(await stacks.openState(database, owner), textOf(4))
})

test('the empty state with which a run begins is not kept', async () => {
  const owner = await newOwner()
  await snapshot(owner, newId(), 0)
  assert.deepEqual(await versions(owner), [])
})

test('a state that is being written is not read', async () => {
  const text = textOf(1)
  for (let length = 0; length < text.length; length++) {
    assert.equal(await readState(Buffer.from(text.slice(0, length))), undefined)
  }
})

test('the kept serial is that of the run that wrote the newest state', async () => {
  const owner = await newOwner()
  const run = newId()
  assert.equal(await keptSerial(database, owner.serviceId, run), undefined)
  await snapshot(owner, run, 7)
  assert.equal(await keptSerial(database, owner.serviceId, run), 7)
  assert.equal(await keptSerial(database, owner.serviceId, newId()), undefined)
})

test('the resources of a result are kept with their attributes, and replace the previous ones', async () => {
  const owner = await newOwner()
  const resource = { address: 'a.b', resource_type: 'a', name: 'b', provider: 'p', mode: 'managed' } as const
  const attributes = { text: 'x', list: [1, { deep: null }] }
  for (const value of [{}, attributes]) {
    const resources = [{ ...resource, attributes: JSON.stringify(value) }]
    await database.begin((sql) => stacks.keepResult(sql, owner, { resources, outputs: [] }, { isWhole: true }))
  }
  const kept = await listResources(database, owner.serviceId)
  assert.deepEqual(
    kept.map(({ id: _, extracted_at: __, ...one }) => one),
    [{ ...resource, attributes }],
  )
})

test('an earlier state becomes the newest one, with the next serial', async () => {
  const owner = await newOwner()
  await snapshot(owner, newId(), 1)
  await snapshot(owner, newId(), 2)
  const [, first] = await stateVersions(database, owner.serviceId)
  const restored = await restoreState(database, { vault, clock }, owner, first?.id ?? '')
  assert.deepEqual([restored.serial, restored.restored_from, restored.lineage], [3, 1, 'one'])
  assert.equal(await stacks.openState(database, owner), textOf(3))
})

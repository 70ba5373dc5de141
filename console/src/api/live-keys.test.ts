import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeTypes } from '@quayside/contract/event-stream.ts'
import { keysOf } from './live-keys.ts'

const data = { project_id: 'p', environment_id: 'e', cluster_id: 'c' }
const keysFor = (type: string, given: object = {}) =>
  keysOf('o', { id: '1', type, data: { ...given } }).map((key) => key.join('/'))

test('each type of change makes reads old', () => {
  for (const [type, fields] of Object.entries(changeTypes)) {
    const given = Object.entries(data).filter(([name]) => fields.some((field) => field === name))
    assert.notDeepEqual(keysFor(type, Object.fromEntries(given)), [], type)
  }
})

test('a change of a service is read again without the projects, and one of a project everywhere below it', () => {
  assert.deepEqual(keysFor('service.changed', data), ['environment/e', 'variables'])
  assert.deepEqual(keysFor('project.changed', { project_id: 'p' }), [
    'project/p',
    'environment',
    'variables',
    'organization/o/projects',
  ])
})

test('a stream that begins and ends makes nothing old, and a gap everything', () => {
  assert.deepEqual([keysFor('ready'), keysFor('end'), keysFor('reset')], [[], [], ['']])
})

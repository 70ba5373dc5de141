import assert from 'node:assert/strict'
import { test } from 'node:test'
import { audienceDraft, audienceFields, audienceKey, audienceValue, audienceWords } from './audience.ts'
import { settingsWith } from './draft.ts'

const support = { id: '01900000-0000-7000-8000-00000000000c', name: 'Support' }
const roles = [
  ...['Owner', 'Admin', 'DevOps', 'Billing Manager', 'Viewer'].map((name) => ({ id: `id of ${name}`, name })),
  support,
]

test('the setting and the form say the same', () => {
  for (const value of [null, 'member', 'DevOps', `Viewer, ${support.id}`, 'Admin']) {
    assert.equal(audienceValue(audienceDraft(value, roles)), value)
  }
  assert.equal(audienceValue(audienceDraft('support', roles)), support.id, 'a custom role is kept by its id')
  assert.deepEqual(audienceDraft('gone, DevOps', roles)['roles'], ['DevOps'])
  assert.equal(audienceValue({ who: 'roles', roles: [] }), 'Admin', 'no role never means everybody')
})

test('a sentence says who may open the addresses', () => {
  assert.equal(audienceWords(null, roles), 'Everybody who knows an address.')
  assert.match(audienceWords('Member', roles), /^Members of the organization who may see/)
  assert.match(audienceWords(`devops,${support.id}`, roles), /^Members with the role DevOps or Support, and admin/)
  assert.match(audienceWords('gone', roles), /a role that no longer exists/)
  assert.match(audienceWords('Admin', roles), /^Administrators of the organization/)
})

test('roles are asked for only if they decide, without the ones that are always the same', () => {
  const fields = audienceFields(roles)
  assert.deepEqual(
    fields({ who: 'member' }).map(({ path }) => path),
    ['who'],
  )
  const [, choices] = fields({ who: 'roles' })
  assert.deepEqual(choices?.type === 'choices' && choices.options.map(({ label }) => label), [
    'DevOps',
    'Viewer',
    'Support',
  ])
})

test('other settings of the service stay as they are', () => {
  const values = { a: 1, b: 2, [audienceKey]: 'member' }
  assert.deepEqual(settingsWith(values, { a: 1, b: 1, [audienceKey]: null }, { [audienceKey]: 'DevOps' }), {
    b: 2,
    [audienceKey]: 'DevOps',
  })
})

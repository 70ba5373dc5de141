import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeChain } from './describe-chain.ts'

const organizationId = '0190'

test('a row that was changed by hand cannot hide its line from the terminal', () => {
  const forged = '\u001b[2K\r\nOrganization "a" (0190): 5 rows, all as they were written.\u009b8m\u202e'
  const row = { id: '1', created_at: new Date(0), event_type: forged, target_type: forged, target_name: forged }
  const line = describeChain({
    ...{ organizationId, name: forged, row },
    state: { intact: false, sequence: 3, reason: 'changed' },
  })
  assert.doesNotMatch(line, /[\p{Cc}\u202e]/u)
  assert.match(line, /: row 3 does not fit/)
})

test('an intact log reports its number of rows', () => {
  const line = describeChain({ organizationId, name: 'a', row: undefined, state: { intact: true, rows: 5 } })
  assert.equal(line, 'Organization "a" (0190): 5 rows, all as they were written.')
})

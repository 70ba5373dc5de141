import assert from 'node:assert/strict'
import { test } from 'node:test'
import { probeOf } from './liveness.ts'

const probe = {
  check: { type: 'tcp', port: 8080 },
  initialDelaySeconds: 1,
  periodSeconds: 2,
  timeoutSeconds: 3,
  successThreshold: 1,
  failureThreshold: 4,
}

test('probeOf parses probes written by the engine, and no other text', () => {
  assert.deepEqual(probeOf(JSON.stringify(probe)), probe)
  for (const text of [
    undefined,
    '',
    '{',
    'null',
    '[]',
    '{"check":null}',
    JSON.stringify({ ...probe, periodSeconds: 'x' }),
  ]) {
    assert.equal(probeOf(text), undefined, text)
  }
})

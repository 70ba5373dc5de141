import assert from 'node:assert/strict'
import test from 'node:test'
import { portRefusal } from './port-refusal.ts'
import type { Settings } from './settings/branch.ts'

const machine = { name: 'local', publishesPorts: true, hasController: false }
const far = { name: 'far', publishesPorts: false, hasController: true }
const database = (accessibility: string) => ({ type: 'POSTGRESQL', accessibility }) as unknown as Settings
const application = (protocol: string, publicly_accessible: boolean) =>
  ({ healthchecks: {}, ports: [{ internal_port: 5000, protocol, publicly_accessible }] }) as unknown as Settings

test('a public database needs an engine that publishes ports', () => {
  assert.match(
    portRefusal(database('PUBLIC'), far) ?? '',
    /^accessibility must be PRIVATE on cluster "far": its engine/,
  )
  assert.equal(portRefusal(database('PRIVATE'), far), undefined)
  assert.equal(portRefusal(database('PUBLIC'), machine), undefined)
})

test('an ingress controller carries no public TCP or UDP ports', () => {
  for (const protocol of ['TCP', 'UDP']) {
    const refusal = portRefusal(application(protocol, true), far) ?? ''
    assert.match(refusal, new RegExp(`^ports: port 5000 \\(${protocol}\\) must be private on cluster "far"`))
    assert.equal(portRefusal(application(protocol, false), far), undefined)
    assert.equal(portRefusal(application(protocol, true), machine), undefined)
    assert.equal(portRefusal(application(protocol, true), { ...far, hasController: false }), undefined)
  }
  assert.equal(portRefusal(application('HTTP', true), far), undefined)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deploymentBefore, type EnvironmentDeployment, pairsOf, versionsAt } from './deployment-versions.ts'

/** The services of a deployment as `name action status`. */
const deployment = (execution_id: string, ...services: readonly string[]): EnvironmentDeployment => {
  const rows = services.map((text) => {
    const [name = '', action = 'DEPLOY', status = 'SUCCESS'] = text.split(' ')
    const identifier = { name, service_id: `${name}-id`, service_type: 'APPLICATION', execution_id }
    return { identifier, status_details: { action, status } }
  })
  // The versions need these members only.
  return { identifier: { execution_id }, stages: [{ services: rows }] } as unknown as EnvironmentDeployment
}
const history = [
  deployment('5', 'shop', 'cart DELETE'),
  deployment('4', 'shop DEPLOY ERROR', 'cart STOP'),
  deployment('3', 'cart'),
  deployment('2', 'shop'),
  deployment('1', 'shop', 'cart'),
]
const at = (execution: string) =>
  [...versionsAt(history, execution).values()].map(({ name, executionId }) => `${name} ${executionId}`).toSorted()

test('a service keeps its last version through deployments that start none of it', () => {
  assert.deepEqual(at('1'), ['cart 1', 'shop 1'])
  assert.deepEqual(at('3'), ['cart 3', 'shop 2'])
  assert.deepEqual(at('4'), ['cart 3', 'shop 2'])
})

test('a deleted service has no version', () => {
  assert.deepEqual(at('5'), ['shop 5'])
})

test('a deployment that the history does not have has no versions', () => {
  assert.deepEqual(at('9'), [])
})

test('two deployments differ in the services whose versions differ', () => {
  const pairs = pairsOf(history, '2', '5').map(({ name, from, to }) => `${name} ${from} ${to}`)
  assert.deepEqual(pairs.toSorted(), ['cart 1 undefined', 'shop 2 5'])
  assert.equal(deploymentBefore(history, '2')?.identifier.execution_id, '1')
  assert.equal(deploymentBefore(history, '1'), undefined)
})

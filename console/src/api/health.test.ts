import assert from 'node:assert/strict'
import { test } from 'node:test'
import { healthOf } from './health.ts'

const rows = (...states: readonly string[]) => states.map((state) => ({ status: { state } }))

test('the health of services counts the ones that run, and names the others', () => {
  assert.equal(healthOf([]), '')
  assert.equal(healthOf(rows('DEPLOYED')), 'its service runs')
  assert.equal(healthOf(rows('DEPLOYMENT_ERROR')), 'its service: failed')
  assert.equal(healthOf(rows('DEPLOYED', 'RESTARTED')), 'all 2 services run')
  assert.equal(
    healthOf(rows('DEPLOYED', 'DEPLOYMENT_ERROR', 'STOPPED', 'READY', 'DEPLOYING')),
    '5 services: 1 runs, 1 failed, 1 in progress, 1 stopped, 1 not deployed',
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../test/support/until.ts'
import { silentLogger } from '../lib/log.ts'
import { collectRun } from './collect-run.ts'
import type { JobRunRow } from './job-run.ts'
import type { LoadedJob } from './jobs.ts'

// The functions read no other fields of a row and of a job.
const run = { id: 'run', service_id: 'service', release_id: 'release' } as JobRunRow
const job = { secrets: [] } as unknown as LoadedJob

/** Collects the lines of the run and records the calls. */
function collecting(load: () => Promise<LoadedJob | undefined>, isCollected = false) {
  const noted: string[] = []
  const log = { ...silentLogger, warn: () => void noted.push('warned') } as typeof silentLogger
  const collect = (service: string, release: string): void => void noted.push(`${service} ${release}`)
  collectRun({ isCollected: () => isCollected, collect, load, log }, run)
  return noted
}

test('the lines of a run are collected with the secrets of its job masked', async () => {
  const noted = collecting(async () => job)
  await until('they are collected', () => noted.length === 1)
  assert.deepEqual(noted, ['service release'])
})

test('a service whose lines are already collected is not loaded', () => {
  const noted = collecting(() => assert.fail('loaded'), true)
  assert.deepEqual(noted, [])
})

test('a job that cannot be loaded is logged', async () => {
  const noted = collecting(() => Promise.reject(new Error('sealed')))
  await until('it is logged', () => noted.length === 1)
  assert.deepEqual(noted, ['warned'])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deployedDetails } from './deployed-details.ts'

test('settings of any kind tell their image, chart, schedule and command', () => {
  const container = { image_name: 'hello', tag: '1', arguments: ['a'], entrypoint: '/run', registry_id: 'x' }
  assert.deepEqual(deployedDetails(container), {
    image_name: 'hello',
    tag: '1',
    arguments: ['a'],
    entrypoint: '/run',
    repository: null,
  })
  const job = {
    source: { image: { image_name: 'hello', tag: '1' }, docker: null },
    schedule: { cronjob: { scheduled_at: '0 4 * * *', arguments: ['b'] }, on_start: null },
  }
  assert.deepEqual(deployedDetails(job), {
    image_name: 'hello',
    tag: '1',
    arguments: ['b'],
    schedule: { event: 'CRON', schedule_at: '0 4 * * *' },
    repository: null,
  })
  const helm = { source: { helm_repository: { repository: 'id', chart_name: 'nginx', chart_version: '2' } } }
  assert.deepEqual(deployedDetails(helm).repository, { chart_name: 'nginx', chart_version: '2' })
  assert.deepEqual(deployedDetails(null), { repository: null })
})

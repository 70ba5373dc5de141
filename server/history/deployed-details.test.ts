import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Action } from '@quayside/contract/states.ts'
import type { JobEvent } from '../jobs/index.ts'
import type { Json } from '../lib/json.ts'
import { deployedDetails, historyDetails } from './deployed-details.ts'

type Settings = Readonly<Record<string, Json>>

const details = (settings: Settings | null, action: Action = 'DEPLOY', force_event: JobEvent | null = null) =>
  deployedDetails({ settings, action, force_event })

const container = { image_name: 'hello', tag: '1', arguments: ['a'], entrypoint: '/run', registry_id: 'x' }
const image = { image_name: 'hello', tag: '1' }
const cron = {
  source: { image: { ...image, registry_id: 'x' } },
  schedule: { cronjob: { scheduled_at: '0 4 * * *', timezone: 'Etc/UTC', arguments: ['b'] } },
}
const lifecycle = {
  source: { image },
  schedule: {
    on_start: { arguments: ['start'], entrypoint: '/up' },
    on_delete: { arguments: ['delete'] },
    lifecycle_type: 'GENERIC',
  },
}
const helm = { source: { helm_repository: { repository: 'id', chart_name: 'nginx', chart_version: '2' } } }

test('settings of any kind have their image, chart, schedule and command', () => {
  assert.deepEqual(details(container), { ...image, arguments: ['a'], entrypoint: '/run', repository: null })
  assert.deepEqual(details(cron), {
    ...image,
    arguments: ['b'],
    schedule: { event: 'CRON', schedule_at: '0 4 * * *' },
    repository: null,
  })
  assert.deepEqual(details(helm).repository, { chart_name: 'nginx', chart_version: '2' })
  assert.deepEqual(details(null), { repository: null })
})

test('a job has the event that was run and its command; kinds without these have none', () => {
  const ran = (...given: Parameters<typeof details>) => {
    const { schedule, arguments: list, entrypoint } = details(...given)
    return [schedule?.event, list, entrypoint]
  }
  assert.deepEqual(ran(lifecycle), ['ON_START', ['start'], '/up'])
  assert.deepEqual(ran(lifecycle, 'DEPLOY', 'DELETE'), ['ON_DELETE', ['delete'], undefined])
  for (const action of ['DELETE', 'UNINSTALL'] as const) {
    assert.deepEqual(ran(lifecycle, action), ['ON_DELETE', ['delete'], undefined])
  }
  assert.deepEqual(ran(lifecycle, 'STOP'), [undefined, undefined, undefined])
  assert.deepEqual(ran(lifecycle, 'RESTART'), [undefined, undefined, undefined])
  const onDelete = { ...lifecycle, schedule: { on_delete: { arguments: [] } } }
  assert.deepEqual(ran(onDelete), [undefined, undefined, undefined])
  assert.deepEqual(ran(cron, 'RESTART'), ['CRON', ['b'], undefined])
})

test('the newer format has the details of each kind', () => {
  const told = historyDetails
  assert.deepEqual(told(container), { ...image, arguments: ['a'], entrypoint: '/run' })
  assert.deepEqual(told({ ...container, entrypoint: null }), { ...image, arguments: ['a'] })
  assert.deepEqual(told(cron), { ...image, schedule: { cron_job: cron.schedule.cronjob }, job_type: 'CRON' })
  const ofJob = { schedule: lifecycle.schedule, job_type: 'LIFECYCLE' }
  assert.deepEqual(told(lifecycle), { ...image, ...ofJob })
  assert.deepEqual(told({ ...lifecycle, source: { docker: {} } }), ofJob)
  assert.deepEqual(told(helm), { repository: { chart_name: 'nginx', chart_version: '2' } })
  const nothing = [
    { arguments: ['a'], entrypoint: '/run' },
    { type: 'POSTGRESQL' },
    { source: { git_repository: {} } },
    null,
  ]
  for (const settings of nothing) assert.deepEqual(told(settings), {})
})

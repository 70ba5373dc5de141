import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migrate, readMigrations } from '../database/migrate.ts'
import { type Cleanup, emptyDatabase } from '../database/testing.ts'
import { newId } from '../lib/id.ts'
import { silentLogger } from '../lib/log.ts'
import { addPlace, addService } from '../variables/testing.ts'

/** Settings of a version before the columns, and the values that the columns must get. */
const cases = {
  application: [
    {
      git_repository: { url: 'https://a.example/x.git', branch: 'main' },
      auto_deploy: true,
      ephemeral_storage_in_gib: 4,
    },
    { repository_urls: ['https://a.example/x.git'], source_branch: 'main', auto_deploy: true, layer_limit_gib: 4 },
  ],
  container: [
    { image_name: 'team/shop', tag: '1.0', auto_deploy: false, ephemeral_storage_in_gib: 0 },
    { image_name: 'team/shop', source_version: '1.0', auto_deploy: false, layer_limit_gib: null, repository_urls: [] },
  ],
  database: [
    { type: 'REDIS', version: '7', accessibility: 'PUBLIC' },
    { database_type: 'REDIS', source_version: '7', accessibility: 'PUBLIC', job_type: null },
  ],
  job: [
    { source: { image: { image_name: 'team/job', tag: '2' } }, schedule: { cronjob: { scheduled_at: '@daily' } } },
    { image_name: 'team/job', source_version: '2', job_type: 'CRON' },
  ],
  helm: [
    {
      source: { git_repository: { url: 'https://a.example/chart', branch: 'dev' } },
      values_override: { file: { git: { git_repository: { url: 'https://a.example/values' } } } },
    },
    { repository_urls: ['https://a.example/chart', 'https://a.example/values'], source_branch: 'dev' },
  ],
  terraform: [
    {
      auto_deploy_config: { auto_deploy: true },
      terraform_files_source: { git_repository: { url: 'https://a.example/tf', branch: 'tf' } },
    },
    { auto_deploy: true, repository_urls: ['https://a.example/tf'], source_branch: 'tf' },
  ],
} as const

/** Creates a database from before services and releases had columns of their settings. */
async function openFormer(t: Cleanup) {
  const { sql } = await emptyDatabase(t)
  const all = await readMigrations()
  const place = all.findIndex(({ name }) => name.endsWith('_columns_of_settings.sql'))
  assert.notEqual(place, -1)
  await migrate(sql, { log: silentLogger, migrations: all.slice(0, place) })
  return { sql, ...(await addPlace(sql)) }
}

test('an upgrade fills the columns of settings for every kind', async (t) => {
  const { sql, environment } = await openFormer(t)
  const ids = new Map<string, string>()
  for (const [kind, [settings]] of Object.entries(cases)) {
    const { serviceId } = await addService(sql, environment, kind)
    await sql`update service set settings = ${sql.json(settings)} where id = ${serviceId}`
    ids.set(kind, serviceId)
  }
  await migrate(sql, { log: silentLogger })
  for (const [kind, [, expected]] of Object.entries(cases)) {
    const [row] = await sql`select * from service where id = ${ids.get(kind) ?? ''}`
    const found = Object.fromEntries(Object.keys(expected).map((name) => [name, row?.[name]]))
    assert.deepEqual(found, expected, kind)
  }
})

test('settings of unexpected types do not stop an upgrade', async (t) => {
  const { sql, service } = await openFormer(t)
  const odd = { auto_deploy: 'yes', schedule: 'never', ephemeral_storage_in_gib: 'much', min_running_instances: [] }
  await sql`
    update service set settings = ${sql.json(odd)}, advanced_settings =
    ${sql.json({ 'job.delete_ttl_seconds_after_finished': 'x' })}
    where id = ${service.serviceId}`
  await sql`
    insert into release (id, service_id, request_id, created_at, config_version, settings, variables)
    values (${newId()}, ${service.serviceId}, ${newId()}, now(), 1, ${sql.json(odd)}, '[]')`
  await migrate(sql, { log: silentLogger })
  const [row] = await sql`
    select s.auto_deploy, s.job_type, s.layer_limit_gib, s.run_ttl_seconds, r.min_running_instances
    from service s join release r on r.service_id = s.id`
  assert.deepEqual(
    { ...row },
    { auto_deploy: false, job_type: null, layer_limit_gib: null, run_ttl_seconds: null, min_running_instances: null },
  )
})

test('the columns follow a change of the settings', async (t) => {
  const { sql, service } = await openFormer(t)
  await migrate(sql, { log: silentLogger })
  const settings = { accessibility: 'PRIVATE', min_running_instances: 2 }
  await sql`update service set settings = ${sql.json(settings)} where id = ${service.serviceId}`
  await sql`update service set settings = jsonb_set(settings, '{accessibility}', '"PUBLIC"')`
  const [row] = await sql`select accessibility from service where id = ${service.serviceId}`
  assert.equal(row?.['accessibility'], 'PUBLIC')
})

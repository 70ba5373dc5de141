import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { newId } from '../lib/id.ts'
import type { ProjectRuleRequest } from './project-rules.ts'
import { addGround } from './testing.ts'

const { sql } = await testDatabase({ after })
const ground = await addGround(sql)
const { rules, projectRules, project, cluster_id, addEnvironment } = ground

const hours = {
  timezone: 'Europe/Paris',
  start_time: '1970-01-01T09:30:00.000Z',
  stop_time: '2024-07-01T17:00:00Z',
  weekdays: ['MONDAY', 'FRIDAY', 'MONDAY'] as const,
}
const request = (change: Partial<ProjectRuleRequest> & { name: string }): ProjectRuleRequest => ({
  ...hours,
  mode: 'PREVIEW',
  cluster_id,
  wildcard: '*',
  ...change,
})

test('a new environment has daytime hours on all days and no automatic stop', async () => {
  const { id } = await addEnvironment('usual')
  const { timezone, start_time, stop_time, weekdays, auto_stop } = await rules.get(id)
  assert.deepEqual([timezone, weekdays.length, auto_stop], ['UTC', 7, false])
  assert.equal(start_time.toISOString(), '1970-01-01T08:00:00.000Z')
  assert.equal(stop_time.toISOString(), '1970-01-01T19:00:00.000Z')
})

test('an edit changes the hours; a missing flag is unchanged and null clears it', async () => {
  const { id } = await addEnvironment('edited')
  const rule = await rules.get(id)
  const first = await rules.edit(id, rule.id, { ...hours, auto_stop: true, auto_preview: true })
  assert.deepEqual([first.timezone, first.weekdays], ['Europe/Paris', ['MONDAY', 'FRIDAY']])
  assert.equal(first.stop_time.toISOString(), '1970-01-01T17:00:00.000Z')
  const second = await rules.edit(id, rule.id, { ...hours, auto_preview: null })
  assert.deepEqual([second.auto_stop, second.auto_preview], [true, false])
  await assert.rejects(rules.edit(id, newId(), hours), { code: 'notFound' })
  const mars = rules.edit(id, rule.id, { ...hours, timezone: 'Mars/Olympus' })
  await assert.rejects(mars, { code: 'invalid', message: /^timezone/ })
})

test('a new environment has the hours of the first rule of the project whose wildcard matches', async () => {
  const any = await projectRules.create(project, request({ name: 'any' }))
  const preview = await projectRules.create(
    project,
    request({ name: 'previews', wildcard: 'pr-*', timezone: 'Asia/Tokyo', auto_stop: true }),
  )
  assert.deepEqual([any.priority_index, preview.priority_index], [0, 1])
  const zoneOf = async (name: string) => (await rules.get((await addEnvironment(name)).id)).timezone
  assert.equal(await zoneOf('pr-1'), 'Europe/Paris')
  await projectRules.order(project, [preview.id])
  assert.deepEqual((await projectRules.list(project)).map(({ name }) => name), ['previews', 'any'])
  assert.equal(await zoneOf('PR-2'), 'Asia/Tokyo')
  assert.equal(await zoneOf('main'), 'Europe/Paris')
  const edited = await projectRules.edit(project, preview.id, request({ name: 'previews', wildcard: 'x' }))
  assert.deepEqual([edited.auto_stop, edited.wildcard, edited.timezone], [true, 'x', 'Europe/Paris'])
  await projectRules.remove(project, preview.id)
  const [left] = await projectRules.list(project)
  assert.deepEqual([left?.name, left?.priority_index], ['any', 0])
}) // biome-ignore format: one line

test('a new environment has the mode and cluster of its rule unless the request sets them', async () => {
  const far = newId()
  await sql`
    insert into cluster (id, organization_id, created_at, updated_at, name, region, cloud_provider, kubernetes)
    values (${far}, ${project.organization_id}, now(), now(), 'far', 'here', 'ON_PREMISE', 'SELF_MANAGED')`
  await projectRules.create(project, request({ name: 'far', wildcard: 'far-?', mode: 'STAGING', cluster_id: far }))
  await projectRules.order(project, [(await projectRules.list(project)).find(({ name }) => name === 'far')?.id ?? ''])
  const create = async (body: { name: string; mode?: 'PRODUCTION'; cluster_id?: string }) => {
    const refused: unknown[] = []
    const made = await ground.environments.create(project, newId(), body, (place) => void refused.push(place))
    assert.deepEqual(refused, [{ projectId: project.id, mode: made.mode, clusterId: made.cluster_id }])
    return [made.mode, made.cluster_id]
  }
  assert.deepEqual(await create({ name: 'far-1' }), ['STAGING', far])
  assert.deepEqual(await create({ name: 'far-2', mode: 'PRODUCTION' }), ['PRODUCTION', far])
  assert.deepEqual(await create({ name: 'far-3', cluster_id }), ['STAGING', cluster_id])
  assert.deepEqual(await create({ name: 'far-10' }), ['PREVIEW', cluster_id])
})

test('an environment is for development and on the default cluster when no rule matches', async () => {
  const other = await addGround(sql)
  const made = await other.environments.create(other.project, newId(), { name: 'main' })
  assert.deepEqual([made.mode, made.cluster_id], ['DEVELOPMENT', other.cluster_id])
})

test('a rule is rejected without a wildcard', async () => {
  for (const wildcard of ['', '  ']) {
    await assert.rejects(projectRules.create(project, request({ name: 'none', wildcard })), {
      code: 'invalid',
      message: 'wildcard must not be empty. Use * for all names.',
    })
  }
})

test('rules reject invalid names, clusters and orders', async () => {
  const { id } = await projectRules.create(project, request({ name: 'one' }))
  await assert.rejects(projectRules.create(project, request({ name: 'ONE' })), { code: 'conflict' })
  const elsewhere = projectRules.create(project, request({ name: 'two', cluster_id: newId() }))
  await assert.rejects(elsewhere, { code: 'notFound', message: /^cluster_id/ })
  await assert.rejects(projectRules.order(project, [id, newId()]), { code: 'notFound', message: /in_order\[1\]/ })
  await assert.rejects(projectRules.order(project, [id, id]), { code: 'invalid', message: /in_order\[1\]/ })
  await assert.rejects(projectRules.get(project, newId()), { code: 'notFound' })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Abilities } from '@quayside/contract/services/capabilities.ts'
import type { EventUse } from '@quayside/contract/services/event-triggers.ts'
import { type Cleanup, testDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { addPlace, addService, configVersionOf } from '../variables/testing.ts'
import { createAdvancedSettings } from './advanced-settings.ts'
import { type AutoscalingBody, eventPolicyOf } from './autoscaling.ts'
import { createGroups } from './groups.ts'
import { copyServiceParts, partsOf, setParts } from './parts.ts'
import { createRestrictions } from './restrictions.ts'
import { findService } from './service-store.ts'

async function openBench(t: Cleanup) {
  const { sql } = await testDatabase(t)
  const { service, environment } = await addPlace(sql)
  await sql`update cluster set engine = 'local'`
  const options = { database: sql, clock: systemClock }
  const problemOf = () => undefined
  const able: Abilities = { shapes: new Set(['long-running']), settings: new Set(['lifecycle-commands']) }
  const ableOf = (engine: string | null) => (engine === null ? undefined : able)
  return {
    sql,
    environment,
    scope: service,
    service: { id: service.serviceId, kind: 'application' as const, organizationId: service.organizationId },
    settings: createAdvancedSettings({ ...options, ableOf, problemOf }),
    restrictions: createRestrictions(options),
    groups: createGroups(options),
    version: async () => Number(await configVersionOf(sql, service)),
  }
}
const now = new Date('2026-01-01T00:00:00Z')

test('advanced settings are defaults until they are sent, and a request replaces all of them', async (t) => {
  const { service, settings } = await openBench(t)
  assert.equal((await settings.get(service))['deployment.termination_grace_period_seconds'], 60)
  await settings.replace(service, {
    'deployment.termination_grace_period_seconds': 5,
    'hpa.cpu.average_utilization_percent': 1,
  })
  const some = await settings.get(service)
  assert.equal(some['deployment.termination_grace_period_seconds'], 5)
  await settings.replace(service, { 'build.timeout_max_sec': 60 })
  const next = await settings.get(service)
  assert.equal(next['deployment.termination_grace_period_seconds'], 60)
  assert.equal(next['build.timeout_max_sec'], 60)
})

test('a changed effective setting makes the service out of date, but sending the defaults does not', async (t) => {
  const { service, settings, version } = await openBench(t)
  const before = await version()
  await settings.replace(service, await settings.get(service))
  assert.equal(await version(), before)
  await settings.replace(service, { 'build.timeout_max_sec': 60 })
  assert.equal(await version(), before + 1)
})

test('the network of a service is one of its advanced settings', async (t) => {
  const { service, settings } = await openBench(t)
  assert.deepEqual(await settings.network(service), { sticky_session: false })
  await settings.replace(service, { 'build.timeout_max_sec': 60 })
  assert.deepEqual(await settings.editNetwork(service, { sticky_session: true }), { sticky_session: true })
  const all = await settings.get(service)
  assert.deepEqual([all['network.ingress.enable_sticky_session'], all['build.timeout_max_sec']], [true, 60])
})

test('a setting without effect is rejected with its value and the reason, and every problem is named', async (t) => {
  const { service, settings, version } = await openBench(t)
  const before = await version()
  const sent = { 'deployment.antiaffinity.pod': 'Requirred', 'of.tomorrow': [1], 'build.timeout_max_sec': 60 }
  await assert.rejects(settings.replace(service, sent), (error) => {
    assert.ok(error instanceof AppError && error.code === 'invalid')
    assert.match(
      error.message,
      /deployment\.antiaffinity\.pod cannot be "Requirred": .*has no nodes or zones.*its default "Preferred"\./,
    )
    assert.match(
      error.message,
      /of\.tomorrow is not an advanced setting here\. GET \/defaultApplicationAdvancedSettings lists/,
    )
    return true
  })
  assert.equal(await version(), before)
})

test('a stored value that is no longer accepted may be sent back, but no other value', async (t) => {
  const { sql, service, settings } = await openBench(t)
  const stored = { 'deployment.affinity.node.required': { disk: 'fast', zone: 'a' }, 'of.yesterday': { kept: true } }
  await sql`update service set advanced_settings = ${sql.json(stored)} where id = ${service.id}`
  const all = await settings.get(service)
  assert.deepEqual(await settings.replace(service, { ...all, 'build.timeout_max_sec': 60 }), {
    ...all,
    'build.timeout_max_sec': 60,
  })
  const other = { 'deployment.affinity.node.required': { disk: 'slow' } }
  await assert.rejects(settings.replace(service, other), { code: 'invalid', message: /node\.required cannot be/ })
  assert.deepEqual(await settings.editNetwork(service, { sticky_session: true }), { sticky_session: true })
})

test('no setting has an effect on a cluster without an engine', async (t) => {
  const { sql, service, settings } = await openBench(t)
  await sql`update cluster set engine = null`
  await settings.replace(service, await settings.get(service))
  const sent = { 'build.timeout_max_sec': 60 }
  await assert.rejects(settings.replace(service, sent), { code: 'invalid', message: /no engine of this installation/ })
})

test('a request with too many settings is rejected', async (t) => {
  const { service, settings } = await openBench(t)
  const long = { code: 'invalid', message: /^The body must have at most 65536 characters/ }
  await assert.rejects(settings.replace(service, { x: 'x'.repeat(70_000) }), long)
  await assert.rejects(settings.replace(service, { ['x'.repeat(256)]: 1 }), { code: 'invalid' })
})

const match = (value: string) => ({ mode: 'MATCH' as const, type: 'PATH' as const, value })

test('deployment restrictions are unique paths inside the repository', async (t) => {
  const { service, restrictions } = await openBench(t)
  for (const value of [' ', '/', '/src', '../x', 'a/../b', 'a\\b', 'a\u0000b']) {
    await assert.rejects(
      restrictions.create(service.id, match(value)),
      { code: 'invalid', message: /^value must / },
      value,
    )
  }
  const first = await restrictions.create(service.id, match('src/'))
  await restrictions.create(service.id, { ...match('src/'), mode: 'EXCLUDE' })
  await assert.rejects(restrictions.create(service.id, match('src/')), { code: 'conflict' })
  const changed = await restrictions.edit(service.id, first.id, match('lib/'))
  assert.deepEqual([changed.id, changed.value], [first.id, 'lib/'])
  assert.deepEqual(
    (await restrictions.list(service.id)).map(({ value }) => value),
    ['lib/', 'src/'],
  )
})

test('a restriction is reached only through its own service', async (t) => {
  const { sql, environment, service, restrictions } = await openBench(t)
  const other = await addService(sql, environment)
  const { id } = await restrictions.create(service.id, match('src'))
  await assert.rejects(restrictions.edit(other.serviceId, id, match('x')), { code: 'notFound' })
  await assert.rejects(restrictions.remove(other.serviceId, id), { code: 'notFound' })
  await restrictions.remove(service.id, id)
  assert.equal((await restrictions.list(service.id)).length, 0)
})

const given = (at: Date, events: EventUse = 'cool-down') => ({ now: at, eventsOf: () => events })

const policy = (scalers: Partial<AutoscalingBody['scalers'][number]>[]): AutoscalingBody => ({
  mode: 'KEDA',
  scalers: scalers.map((scaler) => ({ scaler_type: 'cron', role: 'PRIMARY', config_json: { a: 1 }, ...scaler })),
})

test('a cluster that lacks KEDA rejects a policy with what is missing, and one that has it checks the policy', async (t) => {
  const { sql, service } = await openBench(t)
  const put = (scaler: Partial<AutoscalingBody['scalers'][number]>, events: EventUse) =>
    setParts(sql, service, { autoscaling: policy([scaler]) }, given(now, events))
  await assert.rejects(put({}, { lacks: 'no KEDA' }), {
    code: 'invalid',
    message: /^autoscaling must have no enabled scaler on cluster ".+": it has no KEDA\. /,
  })
  const secret = 'secretTargetRef: [{parameter: a, name: quayside-registry, key: b}]'
  await assert.rejects(put({ trigger_authentication: { name: 'a', config_yaml: secret } }, 'scale'), {
    code: 'invalid',
    message: /^autoscaling\.scalers\[0\]\.trigger_authentication\.config_yaml may only have env/,
  })
  await put({ trigger_authentication: { name: 'a', config_yaml: secret } }, 'cool-down')
  const env = 'env: [{parameter: host, name: URL}]'
  const long = `a: 1\nb: ${'x'.repeat(2000)}`
  await put({ config_json: null, config_yaml: long, trigger_authentication: { name: 'a', config_yaml: env } }, 'scale')
  const [scaler] = (await eventPolicyOf(sql, service.id))?.scalers ?? []
  assert.deepEqual(scaler?.values, { a: 1, b: 'x'.repeat(2000) })
  assert.deepEqual(scaler?.authentication, { env: [{ parameter: 'host', name: 'URL' }] })
  const answered = (await partsOf(sql, [service.id]))(service.id).autoscaling
  assert.ok(!JSON.stringify(answered).includes('"values"'))
})

test('a policy without an enabled scaler is an idle time on every cluster, and needs no KEDA', async (t) => {
  const { sql, service } = await openBench(t)
  const idle = { ...policy([{ enabled: false }]), cooldown_period_seconds: 60 }
  const scalesByEvents = async () => (await findService(sql, service.id))?.scales_by_events
  for (const events of ['cool-down', 'scale', { lacks: 'no KEDA' }] as const) {
    await setParts(sql, service, { autoscaling: idle }, given(now, events))
    assert.equal((await partsOf(sql, [service.id]))(service.id).autoscaling?.cooldown_period_seconds, 60)
    // Its versions scale by load.
    assert.deepEqual([await eventPolicyOf(sql, service.id), await scalesByEvents()], [null, false])
  }
  const some = policy([{ enabled: false }, {}])
  await assert.rejects(setParts(sql, service, { autoscaling: some }, given(now, { lacks: 'no KEDA' })), {
    message: /disable all scalers, and cooldown_period_seconds is the idle time before it sleeps\.$/,
  })
  await setParts(sql, service, { autoscaling: some }, given(now, 'scale'))
  assert.deepEqual([(await eventPolicyOf(sql, service.id))?.scalers.length, await scalesByEvents()], [2, true])
})

test('an autoscaling policy is stored with its defaults, and an unchanged scaler keeps its id', async (t) => {
  const { sql, service } = await openBench(t)
  const of = async () => (await partsOf(sql, [service.id]))(service.id).autoscaling
  await setParts(sql, service, { autoscaling: policy([{ trigger_authentication: { name: 'auth' } }]) }, given(now))
  const first = await of()
  assert.deepEqual([first?.polling_interval_seconds, first?.cooldown_period_seconds], [30, 300])
  const [scaler] = first?.scalers ?? []
  assert.deepEqual([scaler?.enabled, scaler?.config_json, scaler?.config_yaml], [true, { a: 1 }, null])
  assert.equal(scaler?.trigger_authentication?.organization_id, service.organizationId)
  assert.deepEqual(scaler?.created_at, now)
  const later = new Date('2026-02-01T00:00:00Z')
  await setParts(sql, service, { autoscaling: policy([{ enabled: false }, { role: 'SAFETY' }]) }, given(later))
  const second = await of()
  assert.deepEqual([second?.id, second?.scalers[0]?.id, second?.scalers.length], [first?.id, scaler?.id, 2])
  await setParts(sql, service, {}, given(later))
  assert.equal((await of())?.scalers.length, 2)
  await setParts(sql, service, { autoscaling: null }, given(later))
  assert.equal(await of(), undefined)
})

test('an invalid policy is rejected by the name of its field', async (t) => {
  const { sql, service } = await openBench(t)
  const cases: [AutoscalingBody, RegExp][] = [
    [policy([]), /^autoscaling\.scalers must have at least 1 entry/],
    [policy([{ role: 'SAFETY' }]), /^autoscaling\.scalers must have one of the role PRIMARY/],
    [policy([{}, { config_json: null }]), /^autoscaling\.scalers\[1\] must have config_json or config_yaml/],
    [policy([{ config_yaml: 'a: &x 1\nb: *x' }]), /^autoscaling\.scalers\[0\]\.config_yaml must not have aliases/],
    [policy([{ config_yaml: 'a: 1\na: 2' }]), /^autoscaling\.scalers\[0\]\.config_yaml is not plain YAML/],
    [policy([{ config_yaml: 'a: !!js/function x' }]), /^autoscaling\.scalers\[0\]\.config_yaml is not plain YAML/],
    [policy([{ config_yaml: '- a' }]), /^autoscaling\.scalers\[0\]\.config_yaml must be a YAML mapping/],
    [
      policy([{ trigger_authentication: { name: 'x', config_yaml: '{' } }]),
      /^autoscaling\.scalers\[0\]\.trigger_authentication\.config_yaml is not plain YAML/,
    ],
  ]
  for (const [autoscaling, message] of cases) {
    await assert.rejects(setParts(sql, service, { autoscaling }, given(now)), { code: 'invalid', message })
  }
})

test('a copy has the parts of the original under its own ids', async (t) => {
  const { sql, environment, service, settings, restrictions, groups } = await openBench(t)
  const group = await groups.create(service.organizationId, 'labels', { name: 'g', entries: [], scopes: [] })
  await setParts(sql, service, { labels_groups: [group], autoscaling: policy([{}]) }, given(now))
  await settings.replace(service, { 'build.timeout_max_sec': 1 })
  const restriction = await restrictions.create(service.id, match('src'))
  const { serviceId } = await addService(sql, environment)
  await copyServiceParts(sql, service.id, serviceId, now)
  const [parts, original] = await partsOf(sql, [serviceId, service.id]).then((of) => [of(serviceId), of(service.id)])
  assert.equal(parts?.labels_groups[0]?.id, group.id)
  assert.equal(parts?.autoscaling?.scalers[0]?.scaler_type, 'cron')
  assert.notEqual(parts?.autoscaling?.id, original?.autoscaling?.id)
  assert.notEqual(parts?.autoscaling?.scalers[0]?.id, original?.autoscaling?.scalers[0]?.id)
  assert.equal((await settings.get({ id: serviceId, kind: 'application' }))['build.timeout_max_sec'], 1)
  const [copied] = await restrictions.list(serviceId)
  assert.equal(copied?.value, 'src')
  assert.notEqual(copied?.id, restriction.id)
})

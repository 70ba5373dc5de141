import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type KindName, kindNames } from '@quayside/contract/services/kinds.ts'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { type EngineCapabilities, FakeEngine } from '../engines/index.ts'
import { systemClock } from '../lib/clock.ts'

/** Compares a copy of a service of each kind with its original. */
class AbleEngine extends FakeEngine {
  override readonly capabilities: EngineCapabilities = {
    description: 'an engine of this test',
    shapes: new Set(['long-running', 'task', 'chart', 'stack']),
    settings: new Set(),
    images: 'shared',
    publishesPorts: true,
    scalesByLoad: false,
    events: 'cool-down',
    measuresDisk: true,
  }
}
const engine = new AbleEngine({ clock: systemClock })
const { a, call, database } = await createPlatform({ after }, { works: true, engine })
const { environmentId } = a.objects

const ask = async (method: string, path: string, body?: unknown) => {
  const answer = await call(a.tokens.ADMIN, method, path, body)
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
  return Object(answer.body)
}
/** Undefined if the kind does not have it. */
async function read(path: string): Promise<Record<string, unknown> | undefined> {
  const answer = await call(a.tokens.ADMIN, 'GET', path)
  return answer.status === 200 ? Object(answer.body) : undefined
}
const listOf = async (environment: string, kind: KindName): Promise<{ id: string; name: string }[]> =>
  (await ask('GET', `/environment/${environment}/${kind}`)).results

/** At the top level and below these members, the service has its own ids. */
const own = new Set([
  '',
  'results',
  'environment',
  'ports',
  'storage',
  'autoscaling',
  'scalers',
  'trigger_authentication',
])
const times = new Set(['created_at', 'updated_at', 'host'])
/** Compares a record with that of its copy. */
function shared(value: unknown, under = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => shared(one, under))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !(name === 'id' && own.has(under)) && !times.has(name))
      .map(([name, inner]) => [name, shared(inner, name)]),
  )
}
const ids = (value: unknown): string[] =>
  [...JSON.stringify(value).matchAll(/"id":"([^"]+)"/g)].map(([, id = '']) => id)

/** An advanced setting with a non-default value, for each kind that has such settings. */
const changedSettings: Readonly<Record<Exclude<KindName, 'database'>, Readonly<Record<string, unknown>>>> = {
  application: { 'deployment.termination_grace_period_seconds': 11 },
  container: { 'deployment.termination_grace_period_seconds': 12 },
  helm: { 'network.ingress.enable_cors': true },
  job: { 'deployment.termination_grace_period_seconds': 13 },
  terraform: { 'build.timeout_max_sec': 14 },
}
for (const kind of kindNames) {
  const [first] = await listOf(environmentId, kind)
  if (!first) continue
  const path = `/${kind}/${first.id}`
  const settings = await read(`${path}/advancedSettings`)
  if (kind === 'database') assert.equal(settings, undefined)
  else {
    const changed = { ...settings, ...changedSettings[kind] }
    assert.notDeepEqual(changed, settings)
    await ask('PUT', `${path}/advancedSettings`, changed)
  }
}
const [application] = await listOf(environmentId, 'application')
const digits = application?.id.slice(0, 8).toUpperCase()
const name = `QOVERY_APPLICATION_Z${digits}_HOST_INTERNAL`
await ask('PUT', `/application/${application?.id}`, { arguments: [`--self={{${name}}}`] })
const copy = await ask('POST', `/environment/${environmentId}/clone`, { name: 'the whole' })
await until(
  'the copy is whole',
  async () => (await database`select from environment where id = ${copy.id} and copying is null`).length === 1,
)

for (const kind of kindNames) {
  test(`a copy of a ${kind} has all settings of its original and its own ids`, async () => {
    const [originals, copies] = [await listOf(environmentId, kind), await listOf(copy.id, kind)]
    assert.ok(originals.length > 0)
    for (const original of originals) {
      const made = copies.find((one) => one.name === original.name)
      assert.ok(made, original.name)
      const renamed = JSON.parse(
        JSON.stringify(shared(original)).replaceAll(`_Z${digits}_`, `_Z${made.id.slice(0, 8).toUpperCase()}_`),
      )
      assert.deepEqual({ ...Object(shared(made)), environment: null }, { ...renamed, environment: null })
      const { ports = [], storage = [] } = Object(original)
      assert.deepEqual(
        ids([ports, storage]).filter((id) => JSON.stringify(made).includes(id)),
        [],
      )
      for (const part of ['advancedSettings', 'deploymentRestriction']) {
        const listIn = (record: Record<string, unknown> | undefined) =>
          shared({ results: record?.['results'] ?? record })
        const former = await read(`/${kind}/${original.id}/${part}`)
        const copied = await read(`/${kind}/${made.id}/${part}`)
        assert.deepEqual(listIn(copied), listIn(former), part)
      }
      assert.deepEqual((await read(`/${kind}/${made.id}/customDomain`))?.['results'] ?? [], [])
      if (kind !== 'database') continue
      const passwords = await Promise.all(
        [original, made].map(({ id }) => ask('GET', `/database/${id}/masterCredentials`)),
      )
      assert.notEqual(passwords[0].password, passwords[1].password)
    }
  })
}

test('a copy has the secrets in its settings, encrypted for the copy', async () => {
  const rows = await database<{ kind: string; name: string; n: number; sealed: number }[]>`
    select s.kind, t.name, count(*)::int as n, count(distinct t.sealed_value)::int as sealed
    from service_secret t join service s on s.id = t.service_id
    where s.environment_id in (${environmentId}, ${copy.id}) group by 1, 2`
  assert.ok(rows.length > 0)
  for (const { kind, name, n, sealed } of rows) assert.deepEqual([n % 2, sealed], [0, n], `${kind} ${name}`)
})

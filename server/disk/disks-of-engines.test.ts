import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { type EngineDisk, FakeEngine } from '../engines/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { silentLogger } from '../lib/log.ts'
import { createDiskKeeper } from './keeper.ts'
import { createOrganizationDisk } from './organization-disk.ts'

// Two engines with their own disks, and one organization with a service on each.

const gibibyte = 1024 ** 3
/** An engine whose measurement never ends. */
class HangingDisk extends FakeEngine {
  asked = 0
  override disk(ended: AbortSignal): Promise<EngineDisk> {
    this.asked++
    return new Promise((_, reject) => ended.addEventListener('abort', () => reject(ended.reason), { once: true }))
  }
}
const [second, hanging] = [new FakeEngine({ clock }), new HangingDisk({ clock })]
const platform = await createPlatform(
  { after },
  {
    works: true,
    engines: [
      { name: 'second', engine: second },
      { name: 'hanging', engine: hanging },
    ],
  },
)
const { a, database, engine } = platform
const signal = AbortSignal.timeout(60_000)
const here = a.objects.applicationId
const [cluster] = await database`
  insert into cluster (id, organization_id, created_at, updated_at, name, region, cloud_provider, kubernetes, engine)
  select ${crypto.randomUUID()}, organization_id, now(), now(), 'elsewhere', region, cloud_provider, kubernetes,
    'second'
  from cluster where id = ${a.clusterId} returning id`
const { applicationId: there, environmentId } = await platform.addObjects(a)
await database`update environment set cluster_id = ${cluster?.['id']} where id = ${environmentId}`

const organizations = createOrganizationDisk({
  database,
  clock,
  log: silentLogger,
  limitBytes: 0,
  repositorySizes: async () => new Map([[a.organizationId, 5 * gibibyte]]),
  measureSoon: () => {},
})

/** Measures an engine's disk on which the service has a volume of that size. */
async function measure(name: string, on: FakeEngine, service: string, gib: number): Promise<void> {
  const volumes = [{ id: `volume-of-${service}`, service, bytes: gib * gibibyte }]
  const disk = async () => ({ ...(await FakeEngine.prototype.disk.call(on, signal)), volumes })
  const measured: FakeEngine = Object.assign(Object.create(on), { disk })
  const keeper = createDiskKeeper({
    database,
    name,
    engine: measured,
    builder: platform.builder,
    clock,
    log: silentLogger,
    budgetBytes: undefined,
    layerGiB: 1000,
    failRun: async () => {},
    measureLogs: async () => ({ count: 0, bytes: 0 }),
    organizations,
  })
  await keeper.reconcile(signal)
}

const takenBy = async (part: string): Promise<number> => {
  const { parts } = await organizations.usage(a.organizationId)
  return (parts.find(({ name }) => name === part)?.bytes ?? 0) / gibibyte
}

test('a disk whose measurement never ends delays no other disk', async () => {
  await until('the hanging disk is measured', () => hanging.asked > 0)
  await until('both others were measured', async () => {
    const rows = await database<{ engine: string }[]>`select engine from disk_usage order by engine`
    return rows.map((row) => row.engine).join() === 'local,second'
  })
})

test('an organization’s use is the sum over engines, and a measurement replaces only its own part', async () => {
  await measure('local', engine, here, 2)
  await measure('second', second, there, 3)
  assert.equal(await takenBy('VOLUMES'), 5)
  assert.equal(await takenBy('REPOSITORIES'), 5, 'repositories are on this machine, and count once')
  await measure('second', second, there, 1)
  assert.equal(await takenBy('VOLUMES'), 3)
  await measure('local', engine, here, 1)
  assert.equal(await takenBy('VOLUMES'), 2)
  assert.equal(await takenBy('REPOSITORIES'), 5)
})

test('a fetched image is forgotten on the engine alone from which it is removed', async () => {
  const reference = `example.com/team/web@sha256:${'c'.repeat(64)}`
  const old = new Date(Date.now() - 86_400_000)
  for (const name of ['local', 'second', 'hanging']) {
    await database`
      insert into fetched_image (engine, reference, fetched_at, used_at) values (${name}, ${reference}, ${old}, ${old})`
  }
  await measure('second', second, there, 1)
  const rows = await database<{ engine: string }[]>`
    select engine from fetched_image where reference = ${reference} and engine <> 'hanging' order by engine`
  assert.ok(!rows.some((row) => row.engine === 'second'))
})

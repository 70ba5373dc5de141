import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { ownColumns as accountColumns } from '../../server/accounts/index.ts'
import { ownColumns as certificateColumns } from '../../server/certificates/index.ts'
import { inTransaction } from '../../server/database/index.ts'
import { testDatabase } from '../../server/database/testing.ts'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { newId } from '../../server/lib/id.ts'
import { silentLogger as log } from '../../server/lib/log.ts'
import { start } from '../../server/lib/run.ts'
import { SealError } from '../../server/lib/seal.ts'
import { openVariables } from '../../server/releases/freeze.ts'
import { findRelease, type ReleaseRow } from '../../server/releases/release-store.ts'
import { setServiceOutputs } from '../../server/variables/index.ts'
import { createKeyRotations, listSealedColumns, openVault } from '../../server/vault/index.ts'
import { keyDirectory } from '../../server/vault/testing.ts'
import { createWorkflows } from '../../server/workflows/index.ts'
import { createPlatform } from '../support/platform.ts'
import { holdersOf, keyIdNow, openAll } from '../support/sealed-texts.ts'
import { until } from '../support/until.ts'
import type { RotatorOptions } from './key-rotation.child.ts'

const masterKeyFile = join(await keyDirectory({ after }), 'master.key')
const settings = { QUAYSIDE_MASTER_KEY_FILE: masterKeyFile }
const platform = await createPlatform({ after }, { works: true, settings })
const { a, call, database, rooms } = platform
const { organizationId } = a
const { vault } = rooms
const path = `/organization/${organizationId}`
const outsider = { table: 'git_token', row: a.objects.gitTokenId, column: 'sealed_token' }

const rotate = () => call(a.tokens.ADMIN, 'POST', `${path}/rotateKeys`)
const rotation = async () => Object((await call(a.tokens.ADMIN, 'GET', `${path}/keyRotation`)).body)
const ended = () =>
  until('the rotation has ended', async () => {
    const seen = await rotation()
    return seen.ended_at !== null && seen
  })

/** Adds at least one sealed value to every column. */
async function fill(): Promise<void> {
  await platform.addRepository(a)
  const { applicationId, environmentId, projectId } = a.objects
  const application = `/application/${applicationId}`
  assert.equal((await call(a.tokens.DEPLOY, 'POST', `${application}/deploy`, {})).status, 202)
  const deployed = () => database`select from service where id = ${applicationId} and state = 'DEPLOYED'`
  await until('the application is deployed', async () => (await deployed()).length > 0)
  const key = { 'idempotency-key': newId() }
  const webhook = { provider: 'GITHUB', description: 'for a test' }
  assert.equal((await call(a.tokens.ADMIN, 'POST', `${path}/gitWebhook`, webhook, key)).status, 201)
  const outputs = [{ key: 'OUT', value: 'text', isSecret: true }]
  const service = { serviceId: applicationId, environmentId, projectId, organizationId }
  await inTransaction(database, (sql) => setServiceOutputs(sql, { vault, clock }, service, outputs))
  for (const column of ['sealed_kubeconfig', 'sealed_dns_secrets']) {
    const text = await vault.seal(database, organizationId, { table: 'cluster', row: a.clusterId, column }, 'text')
    await database`update cluster set ${database({ [column]: text })} where id = ${a.clusterId}`
  }
  await fillStack()
  await fillCertificate()
}

/** Adds a run of a stack with its plan, and a state. */
async function fillStack(): Promise<void> {
  const { applicationId: service_id } = a.objects
  const [run, state, now] = [newId(), newId(), clock.now()]
  const seal = (table: string, row: string, column: string) =>
    vault.seal(database, organizationId, { table, row, column }, 'text')
  const sealed_plan = await seal('stack_run', run, 'sealed_plan')
  const times = { created_at: now, updated_at: now }
  const plan = { id: run, service_id, release_id: newId(), action: 'APPLY', sealed_plan, ...times }
  await database`insert into stack_run ${database(plan)}`
  const sealed_state = await seal('stack_state', state, 'sealed_state')
  const version = { number: 1, run_id: run, created_at: now, serial: 1, lineage: 'l', bytes: 4, sealed_state }
  await database`insert into stack_state ${database({ id: state, service_id, ...version })}`
}

/** Adds an uploaded certificate to a custom domain. */
async function fillCertificate(): Promise<void> {
  const { applicationId } = a.objects
  const domain = { domain: 'shop.example.org', generate_certificate: false, use_cdn: false }
  const made = await call(a.tokens.ADMIN, 'POST', `/application/${applicationId}/customDomain`, domain)
  const custom_domain_id: string = Object(made.body).id
  const cell = { table: 'uploaded_certificate', row: custom_domain_id, column: 'sealed_key' }
  const sealed_key = await vault.seal(database, organizationId, cell, 'text')
  const now = clock.now()
  const facts = { chain: '', issuer: '', fingerprint: '', not_before: now, not_after: now, uploaded_at: now }
  await database`insert into uploaded_certificate ${database({ custom_domain_id, sealed_key, ...facts })}`
}

async function releaseNow(): Promise<ReleaseRow> {
  const [row] = await database<{ id: string }[]>`select id from release where sealed_variables is not null limit 1`
  const release = await findRelease(database, row?.id ?? '')
  assert.ok(release)
  return release
}

test('every column named sealed is a column of sealed values or is sealed by the master key', async () => {
  const columns = await database<{ name: string }[]>`
    select table_name || '.' || column_name as name from information_schema.columns
    where table_schema = 'public' and column_name like 'sealed%'`
  const named = (await listSealedColumns(database)).map(({ table, column }) => `${table}.${column}`)
  const byMasterKey = [...accountColumns, ...certificateColumns].map(({ table, column }) => `${table}.${column}`)
  assert.deepEqual(
    columns.map(({ name }) => name).sort(),
    [...named, ...byMasterKey].filter((name) => name !== 'kept_reply.body').sort(),
  )
})

test('a rotation leaves no value sealed by the previous key, and every value opens', async () => {
  await fill()
  assert.equal((await rotation()).state, 'NEVER_ROTATED')
  const former = await keyIdNow(database, vault, organizationId)
  const before = await openAll(database, vault, organizationId, former)
  assert.deepEqual(
    Object.keys(before).filter((name) => before[name] === 0),
    [],
  )
  const [token] = await database<
    { sealed_token: string }[]
  >`select sealed_token from git_token where id = ${a.objects.gitTokenId}`
  // A deployment that waits for its slot has already read this.
  const release = await releaseNow()
  const asked = await rotate()
  assert.deepEqual([asked.status, Object(asked.body).state], [202, 'RUNNING'])
  const { state, old_key_rows, reason } = await ended()
  assert.deepEqual([state, old_key_rows, reason], ['SUCCESS', 0, null])
  assert.deepEqual(await holdersOf(database, former), [])
  const present = await keyIdNow(database, vault, organizationId)
  assert.notEqual(present, former)
  // A new vault has no keys in memory.
  const fresh = await openVault({ database, masterKeyFile, log })
  assert.deepEqual(await openAll(database, fresh, organizationId, present), before)
  assert.equal((await openVariables(database, fresh, organizationId, release)).secrets.length > 0, true)
  await assert.rejects(fresh.open(database, organizationId, outsider, token?.sealed_token ?? ''), SealError)
  const [keys] = await database`select count(*)::int as count from data_key where organization_id = ${organizationId}`
  assert.equal(keys?.['count'], 1)
})

test('a rotation waits for transactions that still use the previous key, and a second one is rejected', async () => {
  const [begun, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const writing = inTransaction(database, async (sql) => {
    const sealed = await vault.seal(sql, organizationId, outsider, 'late')
    begun.resolve()
    await commit.promise
    await sql`update git_token set sealed_token = ${sealed} where id = ${outsider.row}`
  })
  await begun.promise
  const former = await keyIdNow(database, vault, organizationId)
  assert.equal((await rotate()).status, 202)
  await until('no other value is left', async () => (await rotation()).old_key_rows === 0)
  assert.equal((await rotate()).status, 409)
  assert.equal((await rotation()).state, 'RUNNING')
  commit.resolve()
  await writing
  assert.equal((await ended()).state, 'SUCCESS')
  assert.deepEqual(await holdersOf(database, former), [])
  const [row] = await database<
    { sealed_token: string }[]
  >`select sealed_token from git_token where id = ${outsider.row}`
  const fresh = await openVault({ database, masterKeyFile, log })
  assert.equal((await fresh.open(database, organizationId, outsider, row?.sealed_token ?? '')).reveal(), 'late')
})

test('a rotation keeps the previous key if a value cannot be opened, and the next one continues', async () => {
  await database`update git_token set sealed_token = overlay(sealed_token placing 'AAAA' from 40)
    where id = ${outsider.row}`
  assert.equal((await rotate()).status, 202)
  const failed = await ended()
  assert.deepEqual([failed.state, failed.old_key_rows], ['ERROR', 1])
  assert.match(failed.reason, new RegExp(`git_token\\.sealed_token of ${outsider.row} cannot be opened`))
  const [keys] = await database`select count(*)::int as count from data_key where organization_id = ${organizationId}`
  assert.equal(keys?.['count'], 2)
  const body = { name: 'A git token', type: 'GITLAB', token: 'anew' }
  assert.equal((await call(a.tokens.ADMIN, 'PUT', `${path}/gitToken/${outsider.row}`, body)).status, 200)
  assert.equal((await rotate()).status, 202)
  assert.deepEqual(await ended().then(({ state, old_key_rows }) => [state, old_key_rows]), ['SUCCESS', 0])
})

/**
 * Makes an organization with more values than a rotation seals in one batch, in its own database.
 */
async function manyTexts(t: TestContext) {
  const { sql, url } = await testDatabase(t)
  const file = join(await keyDirectory(t), 'master.key')
  const [id, now] = [newId(), new Date()]
  await sql`insert into organization (id, created_at, updated_at, name) values (${id}, ${now}, ${now}, ${id})`
  const own = await openVault({ database: sql, masterKeyFile: file, log })
  const rows = Array.from({ length: 250 }, newId)
  const cells = rows.map((row) => ({ cell: { table: 'git_webhook', row, column: 'sealed_secret' }, text: row }))
  const texts = await own.sealAll(sql, id, cells)
  const whole = rows.map((row, index) => ({ id: row, organization_id: id, sealed_secret: texts[index] ?? '' }))
  await sql`insert into git_webhook
    ${sql(whole.map((one) => ({ ...one, created_at: now, updated_at: now, provider: 'GITHUB' })))}`
  const workflows = createWorkflows({ database: sql, workflows: [], clock, log, maxRunning: 0 })
  const former = await keyIdNow(sql, own, id)
  await createKeyRotations({ database: sql, clock, vault: own, workflows }).rotate(id)
  return { sql, url, file, id, former, rows }
}

const program = join(import.meta.dirname, 'key-rotation.child.ts')

function startRotator(t: TestContext, options: RotatorOptions): Promise<NodeJS.Signals | null> {
  const child = start(process.execPath, [program, JSON.stringify(options)], { stdio: ['pipe', 'ignore', 'ignore'] })
  const exited = new Promise<NodeJS.Signals | null>((done) => void child.on('close', (_, signal) => done(signal)))
  t.after(async () => {
    child.kill('SIGKILL')
    await exited
  })
  return exited
}

for (const point of ['rotation.sealing', 'rotation.sealed']) {
  test(`a rotation that is killed at ${point} is completed by the next process`, async (t) => {
    const { sql, url, file, id, former, rows } = await manyTexts(t)
    const options = { url, masterKeyFile: file }
    assert.equal(await startRotator(t, { ...options, failpoint: `${point}:kill` }), 'SIGKILL')
    const [left] =
      await sql`select count(*)::int as count from git_webhook where sealed_secret like ${`v1.${former}.%`}`
    assert.equal(left?.['count'], point === 'rotation.sealing' ? 150 : 0)
    void startRotator(t, options)
    await until('it has ended', async () => (await sql`select from key_rotation where ended_at is not null`).length > 0)
    assert.deepEqual(await holdersOf(sql, former), [])
    const fresh = await openVault({ database: sql, masterKeyFile: file, log })
    for (const { id: row, sealed_secret } of await sql<
      { id: string; sealed_secret: string }[]
    >`select * from git_webhook`)
      assert.equal(
        (await fresh.open(sql, id, { table: 'git_webhook', row, column: 'sealed_secret' }, sealed_secret)).reveal(),
        row,
      )
    assert.equal((await sql`select from data_key`).length, 1)
    assert.equal(rows.length, 250)
  })
}

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ownColumns } from '../../server/accounts/index.ts'
import { createRecordAdapter } from '../../server/accounts/record-adapter.ts'
import { openDatabase } from '../../server/database/index.ts'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { newId } from '../../server/lib/id.ts'
import { silentLogger as log } from '../../server/lib/log.ts'
import { exchangeMasterKey, openVault, readMasterKey } from '../../server/vault/index.ts'
import { keyDirectory } from '../../server/vault/testing.ts'
import { createPlatform } from '../support/platform.ts'
import { holdersOf, keyIdNow, openAll } from '../support/sealed-texts.ts'
import { until } from '../support/until.ts'

const file = join(await keyDirectory({ after }), 'master.key')
const settings = { QUAYSIDE_MASTER_KEY_FILE: file }
const platform = await createPlatform({ after }, { works: true, settings })
const { a, call, database, rooms } = platform
const { organizationId, objects } = a
const application = `/application/${objects.applicationId}`
/** A second server on the same database and key file. */
const { vault } = (await platform.another()).rooms
const records = createRecordAdapter({ database, vault, clock })('Session')

/** Exchanges the master key like the command, with its own connections. */
const exchanger = openDatabase({ url: platform.databaseUrl, max: 1, name: 'quayside key exchange' })
after(() => exchanger.end())
const exchange = () => exchangeMasterKey({ database: exchanger, file, columns: ownColumns })

async function rotate(): Promise<void> {
  const path = `/organization/${organizationId}`
  const asked = await call(a.tokens.ADMIN, 'POST', `${path}/rotateKeys`)
  assert.equal(asked.status, 202, asked.text)
  const { state, old_key_rows } = await until('the rotation has ended', async () => {
    const { body } = await call(a.tokens.ADMIN, 'GET', `${path}/keyRotation`)
    return Object(body).ended_at !== null && Object(body)
  })
  assert.deepEqual([state, old_key_rows], ['SUCCESS', 0])
}

const perSecond = 200
const seconds = 3
/** A slow machine gets no more calls at a time. */
const mostAtOnce = 20

/** The calls that use keys, with their number among a hundred calls. */
const calls: readonly { readonly of100: number; readonly what: string; readonly send: (n: number) => Promise<void> }[] =
  [
    {
      of100: 70,
      what: 'read variables',
      send: () => answered('GET', `${application}/environmentVariable`, undefined, 200),
    },
    {
      of100: 20,
      what: 'write a secret',
      send: (n) =>
        answered('PUT', `${application}/secret/${objects.secrets.service}`, { key: 'HIDDEN', value: `text ${n}` }, 200),
    },
    { of100: 3, what: 'deploy', send: () => answered('POST', `${application}/deploy`, {}, 202) },
    {
      of100: 5,
      what: 'sign in',
      send: async (n) => {
        await records.upsert(`session ${n}`, { uid: `u${n}` }, 3600)
        assert.equal((await records.find(`session ${n}`))?.uid, `u${n}`)
      },
    },
    {
      of100: 2,
      what: 'seal the first text of an organization',
      send: async () => {
        const id = newId()
        await database`insert into organization (id, created_at, updated_at, name) values (${id}, now(), now(), ${id})`
        const cell = { table: 't', row: id, column: 'c' }
        const sealed = await database.begin((sql) => vault.seal(sql, id, cell, id))
        assert.equal((await vault.open(database, id, cell, sealed)).reveal(), id)
      },
    },
  ]
const mix = calls.flatMap((one) => Array.from({ length: one.of100 }, () => one))

async function answered(method: string, path: string, body: unknown, status: number): Promise<void> {
  const answer = await call(a.tokens.ADMIN, method, path, body)
  assert.equal(answer.status, status, answer.text)
}

/** Sends calls at a constant rate until the time is over. */
async function load(isOver: () => boolean): Promise<{ sent: number; failed: string[] }> {
  const failed: string[] = []
  const running = new Set<Promise<void>>()
  const began = clock.monotonic()
  let sent = 0
  for (; !isOver(); sent++) {
    await clock.sleep(Math.max(0, began + (sent * 1000) / perSecond - clock.monotonic()))
    if (running.size >= mostAtOnce) await Promise.race(running)
    // 37 and 100 have no common divisor, so the kinds of calls alternate.
    const { what, send } = mix[(sent * 37) % 100] ?? assert.fail()
    const one: Promise<void> = send(sent)
      .catch((error: unknown) => void failed.push(`${what}: ${error}`))
      .finally(() => running.delete(one))
    running.add(one)
  }
  await Promise.all(running)
  return { sent, failed }
}

const deploymentsEnded = () =>
  until('every deployment has ended', async () => {
    const [row] = await database`select from deployment_request where finished_at is null limit 1`
    return row === undefined
  })

test('H20: none of 200 calls a second fails during rotations, and afterwards only the new keys open anything', async (t) => {
  await platform.addRepository(a)
  const first = { master: (await readMasterKey(file)).id, data: await keyIdNow(database, rooms.vault, organizationId) }
  const end = clock.monotonic() + seconds * 1000
  let rounds = 0
  const isOver = (): boolean => clock.monotonic() > end && rounds > 1
  const rotating = async (): Promise<void> => {
    for (; !isOver(); rounds++) {
      const [count] = await Promise.all([exchange(), rotate()])
      assert.ok(count)
    }
  }
  const [{ sent, failed }] = await Promise.all([load(isOver), rotating()])
  t.diagnostic(`${sent} calls, ${rounds} exchanges of every key`)
  assert.deepEqual(failed, [])
  await deploymentsEnded()
  const outcomes = await database`select distinct status, reason from deployment_target`
  assert.deepEqual([...outcomes], [{ status: 'SUCCESS', reason: null }])

  const last = { master: (await readMasterKey(file)).id, data: await keyIdNow(database, rooms.vault, organizationId) }
  await rotate()
  await exchange()
  for (const id of [first.master, first.data, last.master, last.data])
    assert.deepEqual(await holdersOf(database, id), [])
  const fresh = await openVault({ database, masterKeyFile: file, log })
  const counted = await openAll(database, fresh, organizationId, await keyIdNow(database, fresh, organizationId))
  assert.ok((counted['variable.sealed_value'] ?? 0) > 0 && (counted['release.sealed_variables'] ?? 0) > 0)
  const again = createRecordAdapter({ database, vault: fresh, clock })('Session')
  for (const { uid } of await database<{ uid: string }[]>`select uid from issuer_record`)
    assert.equal((await again.findByUid(uid))?.uid, uid)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { newId, newRandomId } from '../lib/id.ts'
import { addPlace, addService } from '../variables/testing.ts'
import { findWish, listWishes } from './observation-store.ts'
import { beginRequest } from './testing.ts'

test('listWishes lists services with a release, of a running request, and reported ones', async (t) => {
  const { sql } = await testDatabase(t)
  const place = await addPlace(sql)
  const add = async () => (await addService(sql, place.environment)).serviceId
  const [running, changing, reported, quiet] = [await add(), await add(), await add(), await add()]
  await sql`update service set release_id = ${newId()} where id = ${running}`
  await beginRequest(sql, place.service.environmentId, changing)
  const listed = async (ids?: string[]) => (await listWishes(sql, ids)).map(({ id }) => id).sort()
  assert.deepEqual(await listed(), [running, changing].sort())
  assert.deepEqual(await listed([reported, running]), [running, changing, reported].sort())
  assert.deepEqual(await listed(['no id', newRandomId()]), [running, changing].sort())
  assert.equal((await findWish(sql, quiet))?.release_id, null)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { zip } from '../../../server/lib/zip.ts'
import { readZip } from './read-zip.ts'
import { serviceBlock } from './terraform-blocks.ts'

const shop = 'resource "qovery_application" "shop" {\n  name = "shop $${x}"\n  ports = [\n    {\n    },\n  ]\n}\n'
const other = 'resource "qovery_job" "shop" {\n  name = "shop"\n}\n'

test('the block of a service is found by its kind and name', () => {
  const text = `terraform {\n}\n\n${other}\n${shop}`
  assert.equal(serviceBlock(text, 'application', `shop $\{x}`), shop)
  assert.equal(serviceBlock(text, 'job', 'shop'), other)
  assert.equal(serviceBlock(text, 'application', 'shop'), undefined)
})

test('an archive of the API is read, and another file is refused', async () => {
  const files = { 'main.tf': shop.repeat(200), 'variables.tf': '', 'ü.txt': 'ä' }
  const read = await readZip(Uint8Array.from(zip(files, new Date(0))))
  assert.deepEqual(Object.fromEntries(read), files)
  await assert.rejects(readZip(new Uint8Array(100)), /not a zip archive/)
})

import assert from 'node:assert/strict'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../database/test-support.ts'
import { greeting } from './greeting.ts'

const publicUrl = 'http://localhost:3000'
const link = `${publicUrl}/setup/once`

test('a terminal shows the token of the first start and the link of the first account', async (t) => {
  const dataDirectory = await temporaryDirectory(t)
  const lines = await greeting({ dataDirectory, publicUrl }, { first: { token: 'quay_x' }, link }, true)
  assert.ok(lines.includes(`Console      ${publicUrl}/`))
  assert.ok(lines.includes('Token        quay_x'))
  assert.ok(lines.includes(`Account      ${link} (valid once, for 24 hours)`))
  await assert.rejects(stat(join(dataDirectory, 'account-link')), { code: 'ENOENT' })
})

test('a log holds neither, and the link is in a private file until somebody owns the organization', async (t) => {
  const dataDirectory = await temporaryDirectory(t)
  const config = { dataDirectory, publicUrl }
  const file = join(dataDirectory, 'account-link')
  const text = (await greeting(config, { first: { token: 'quay_x' }, link }, false)).join('\n')
  assert.ok(!text.includes('quay_x') && !text.includes('once/') && !text.includes(link), text)
  assert.ok(text.includes(`in ${join(dataDirectory, 'admin-token')}`) && text.includes(`in ${file}`))
  assert.equal(await readFile(file, 'utf8'), `${link}\n`)
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  await greeting(config, {}, false)
  await assert.rejects(stat(file), { code: 'ENOENT' })
})

test('servers that share a directory write the same file at the same time', async (t) => {
  const dataDirectory = await temporaryDirectory(t)
  const links = Array.from({ length: 20 }, (_, index) => `${link}${index}`)
  await Promise.all(links.map((one) => greeting({ dataDirectory, publicUrl }, { link: one }, false)))
  assert.deepEqual(await readdir(dataDirectory), ['account-link'])
  assert.ok(links.includes((await readFile(join(dataDirectory, 'account-link'), 'utf8')).trim()))
})

test('what does not run is in the last lines before the end', async (t) => {
  const dataDirectory = await temporaryDirectory(t)
  const results = { first: { problem: 'The example does not run: no.' }, problems: ['HAProxy does not run.'] }
  const lines = await greeting({ dataDirectory, publicUrl }, results)
  assert.deepEqual(lines.slice(-4), ['The example does not run: no.', 'HAProxy does not run.', '', 'Ready.'])
})

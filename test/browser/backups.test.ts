import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { makeEnvironment } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { makeDatabase, type TestDatabase } from '../support/database.ts'
import { provideDatabaseImages } from '../support/database-images.ts'
import { gone } from '../support/gone.ts'

// A real Redis that is backed up, proven and restored in the console. The tests build on each
// other.

describe('backups in the console', { skip: noBrowser ?? false }, () => {
  let ours: TestConsole
  let page: Page
  let database: TestDatabase

  before(
    async () => {
      await provideDatabaseImages('redis')
      ours = await openConsole()
      ;({ page } = ours)
      const environmentId = await makeEnvironment(ours.server, 'backups')
      database = await makeDatabase(ours.server, environmentId, 'redis')
      await ours.open(`/environments/${environmentId}/database/${database.id}`)
      await page.getByRole('navigation', { name: 'Service' }).getByRole('link', { name: 'Backups' }).click()
    },
    { timeout: 600_000 },
  )
  after(() => ours?.close())

  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const dialog = () => page.getByRole('dialog')
  const confirm = (name: string) => dialog().getByRole('button', { name, exact: true }).click()
  const backup = (name: string) =>
    page.getByRole('region', { name: 'Backups', exact: true }).getByRole('row').filter({ hasText: name })
  const redis = async (...command: readonly string[]) => {
    const { password } = await database.credentials()
    const ask = 'REDISCLI_AUTH="$0" redis-cli "$@"'
    return (await database.exec('sh', '-c', ask, password, ...command)).output.trim()
  }

  it('shows the password of a database only when somebody asks for it', async () => {
    const { password } = await database.credentials()
    await page.getByRole('navigation', { name: 'Service' }).getByRole('link', { name: 'Overview' }).click()
    const shown = page.getByText(password, { exact: true })
    await button('Connection with its password').waitFor()
    assert.equal(await shown.count(), 0)
    await button('Connection with its password').click()
    await shown.waitFor()
    assert.deepEqual(await violations(page), [])
    await button('Close').click()
    await gone(shown)
    await page.getByRole('navigation', { name: 'Service' }).getByRole('link', { name: 'Backups' }).click()
  })

  it('shows why a database without data cannot be backed up', async () => {
    await page.getByText('There is no backup yet.').waitFor()
    assert.deepEqual(await violations(page), [])
    await button('Back up now').click()
    await confirm('Back up')
    await dialog().getByText('was never deployed: it has no data yet').waitFor()
    assert.deepEqual(await violations(page), [])
    await confirm('Close')
  })

  it('makes a backup, and shows that a restore of it was proven', async () => {
    await database.acts('deploy')
    await redis('set', 'greeting', 'first')
    await button('Back up now').click()
    await dialog().getByLabel('Message').fill('before the change')
    await dialog().getByLabel('Name').fill('monday')
    await confirm('Back up')
    await backup('monday').getByText('succeeded').waitFor({ timeout: 120_000 })
    await backup('monday').getByText('proven').waitFor({ timeout: 120_000 })
    await page.getByText('A restore was last proven to work').waitFor()
    assert.deepEqual(await violations(page), [])
  })

  it('proves a backup again, and restores the database from it', async () => {
    await button('Prove the backup “monday”').click()
    await backup('monday').getByText('running').waitFor()
    await backup('monday').getByText('proven').waitFor({ timeout: 120_000 })
    await redis('set', 'greeting', 'second')
    await button('Restore redis from “monday”').click()
    assert.deepEqual(await violations(page), [])
    await confirm('Restore')
    const restored = backup('before the change').getByRole('cell').nth(4)
    await restored.getByText('succeeded').waitFor({ timeout: 180_000 })
    await database.settles()
    assert.equal(await redis('get', 'greeting'), 'first')
    await backup('before restoring').getByText('succeeded').waitFor()
  })

  it('shows the message of the API about a wrong timetable, and says a good one in words', async () => {
    await button('Change the timetable of backups').click()
    await dialog().getByLabel('Backups to keep').fill('0')
    await confirm('Save')
    await dialog().getByRole('alert').filter({ hasText: 'keep' }).waitFor()
    await dialog().getByLabel('Backups to keep').fill('3')
    await dialog().getByLabel('Timetable').fill('15 2 * * 0')
    await dialog().getByText('Every Sunday at 02:15').waitFor()
    assert.deepEqual(await violations(page), [])
    await confirm('Save')
    await page.getByText('Every Sunday at 02:15, Etc/UTC. Next: Sunday').waitFor()
    await page.getByText('3 backups are kept.').waitFor()
  })

  it('deletes a backup', async () => {
    await button('Delete the backup “monday”').click()
    await confirm('Delete')
    await gone(button('Delete the backup “monday”'))
    await page.setViewportSize({ width: 380, height: 700 })
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 380)
    assert.deepEqual(await violations(page), [])
    assert.deepEqual(ours.objections, [])
  })
})

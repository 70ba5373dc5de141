import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { get } from '../support/traffic.ts'
import { until } from '../support/until.ts'

// An application with a volume: its backup and restore, a copy of it, and its end. The tests build
// on each other.

/** A server that keeps one text in its volume. A request to `/write/TEXT` replaces it. */
const notebook = {
  Dockerfile: 'FROM quayside/node:24\nWORKDIR /app\nCOPY . ./\nCMD ["node", "app.js"]\n',
  'app.js': `
    const { existsSync, readFileSync, writeFileSync } = require('node:fs')
    require('node:http').createServer((request, response) => {
      const [, text] = request.url.split('/write/')
      if (text) writeFileSync('/data/text', text)
      response.end(existsSync('/data/text') ? readFileSync('/data/text') : 'empty')
    }).listen(8080)
    process.on('SIGTERM', () => process.exit(0))`,
}

describe('the life of a service in the console', { skip: noBrowser ?? false }, () => {
  let ours: TestConsole
  let page: Page
  let notes: TestApplication
  let elsewhere = ''

  before(
    async () => {
      ours = await openConsole()
      ;({ page } = ours)
      const environmentId = await makeEnvironment(ours.server, 'notes')
      elsewhere = await makeEnvironment(ours.server, 'elsewhere')
      const storage = [{ type: 'FAST_SSD', size: 1, mount_point: '/data' }]
      notes = await makeApplication(ours.server, { environmentId, name: 'notes', settings: { storage } })
      await notes.run(notebook)
      await ours.open(`/environments/${environmentId}/application/${notes.id}`)
    },
    { timeout: 300_000 },
  )
  after(async () => {
    await notes?.git.remove()
    await ours?.close()
  })

  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const dialog = () => page.getByRole('dialog')
  const confirm = (name: string) => dialog().getByRole('button', { name, exact: true }).click()
  const tab = (name: string) =>
    page.getByRole('navigation', { name: 'Service' }).getByRole('link', { name, exact: true }).click()
  const backup = (name: string) =>
    page.getByRole('region', { name: 'Backups', exact: true }).getByRole('row').filter({ hasText: name })
  const write = async (text: string) => void (await get(`${notes.url}/write/${text}`))

  it('restores the volume of an application from a backup', async () => {
    await write('first')
    await tab('Backups')
    await button('Back up now').click()
    await dialog().getByLabel('Message').fill('before the change')
    await dialog().getByLabel('Name').fill('monday')
    await confirm('Back up')
    await backup('monday').getByText('proven').waitFor({ timeout: 120_000 })
    await write('second')
    assert.equal((await notes.answer()).body, 'second')
    await button('Restore notes from “monday”').click()
    assert.deepEqual(await violations(page), [])
    await confirm('Restore')
    await backup('before the change').getByRole('cell').nth(4).getByText('succeeded').waitFor({ timeout: 180_000 })
    await notes.settles()
    assert.equal((await notes.answer()).body, 'first')
    await backup('before restoring').getByText('succeeded').waitFor()
  })

  it('says whether pushes to the repository arrive', async () => {
    await tab('Settings')
    await page.getByText('Pushes to its repository arrive here.').waitFor()
    assert.deepEqual(await violations(page), [])
  })

  it('copies a service with its volume into another environment, and leads to the copy', async () => {
    await button('Copy the application …').click()
    await dialog().getByLabel('Name of the copy').fill('notes two')
    await dialog().getByLabel('Environment').selectOption('elsewhere / elsewhere')
    await dialog().getByLabel('Copy its volumes, too').check()
    assert.deepEqual(await violations(page), [])
    await confirm('Copy')
    await page.getByRole('heading', { name: 'notes two', exact: true }).waitFor()
    assert.ok(page.url().includes(`/environments/${elsewhere}/application/`), page.url())
    await page.goBack()
  })

  it('uninstalls a service, which loses its volume and keeps its settings', async () => {
    await button('Uninstall the application …').click()
    await dialog().getByText('the volume of notes at /data (1 GB)').waitFor()
    assert.deepEqual(await violations(page), [])
    await confirm('Uninstall')
    await dialog().waitFor({ state: 'detached' })
    await page.locator('main header').getByText('deleted', { exact: true }).waitFor({ timeout: 60_000 })
    await until('its URL answers no more', async () => (await notes.answer()).status !== 200)
    assert.equal((await ours.server.api('GET', `/application/${notes.id}`)).status, 200)
    await button('Deploy').click()
    await notes.reaches(['RUNNING', 'DEPLOYED'])
    await until('the text is gone', async () => (await notes.answer()).body === 'empty')
    assert.deepEqual(ours.objections, [])
  })
})

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { makeEnvironment } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { makeJob, program, type TestJob } from '../support/job.ts'

// A cron job on a real engine: its times, its runs and their lines. The tests build on each other.

const daily = { scheduled_at: '30 3 * * *', timezone: 'Europe/Paris' }

describe('jobs in the console', { skip: noBrowser ?? false }, () => {
  let ours: TestConsole
  let page: Page
  let job: TestJob

  before(async () => {
    ours = await openConsole()
    ;({ page } = ours)
    const environmentId = await makeEnvironment(ours.server, 'jobs')
    const fails = program(`console.log('counted to three');process.exitCode = 3`)
    job = await makeJob(ours.server, { environmentId, name: 'nightly', schedule: { cronjob: { ...daily, ...fails } } })
    await ours.open(`/environments/${environmentId}/job/${job.id}`)
    await page.getByRole('navigation', { name: 'Service' }).getByRole('link', { name: 'Runs' }).click()
  })
  after(async () => {
    await job?.git.remove()
    await ours?.close()
  })

  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const dialog = () => page.getByRole('dialog')
  const confirm = (name: string) => dialog().getByRole('button', { name, exact: true }).click()
  const runs = () => page.getByRole('region', { name: 'Runs', exact: true })

  it('says the times of a job in words, and that it does not run before its deployment', async () => {
    await page.getByText('Every day at 03:30, Europe/Paris. It does not run by itself').waitFor()
    await page.getByText('It has not run yet.').waitFor()
    assert.equal(await button('Remove failed runs').getAttribute('title'), 'no run has failed')
    assert.deepEqual(await violations(page), [])
  })

  it('runs a job now, and shows its exit code, its reason and its lines', async () => {
    await button('Run now …').click()
    assert.deepEqual(await violations(page), [])
    await confirm('Run now')
    const run = runs().getByRole('row').filter({ hasText: 'run by a person' })
    await run.getByText('It ended with exit code 3.').waitFor({ timeout: 120_000 })
    assert.equal(await run.getByRole('cell').nth(2).innerText(), '3')
    await run.getByRole('button', { name: 'Lines' }).click()
    await dialog().getByText('counted to three').waitFor()
    assert.deepEqual(await violations(page), [])
    await confirm('Close')
  })

  it('shows the next times of a deployed job in its time zone', async () => {
    await job.settles()
    await job.deploy()
    await page
      .getByText(/ at 03:30$/)
      .nth(4)
      .waitFor({ timeout: 60_000 })
    assert.deepEqual(await violations(page), [])
  })

  it('cancels a run of the timetable', async () => {
    const endless = program(`console.log('begun');setInterval(() => {}, 1000)`)
    const cronjob = { scheduled_at: '* * * * *', timezone: 'Etc/UTC', ...endless }
    await ours.server.must('PUT', `/job/${job.id}`, { schedule: { cronjob } })
    await job.deploy()
    const run = runs().getByRole('row').filter({ hasText: 'running' })
    await run.getByRole('button', { name: 'Cancel' }).click({ timeout: 120_000 })
    await runs().getByText('Ada Owner cancelled it.').waitFor({ timeout: 60_000 })
    await page.setViewportSize({ width: 380, height: 700 })
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 380)
    assert.deepEqual(await violations(page), [])
    assert.deepEqual(ours.objections, [])
  })
})

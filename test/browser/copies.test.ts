import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { makeEnvironment } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'

// Copies with data, which end while a person looks at the first page. The failpoint makes the first
// one fail.

describe('copies in the console', { skip: noBrowser ?? false }, () => {
  let ours: TestConsole
  let environmentId = ''

  before(async () => {
    ours = await openConsole({ QUAYSIDE_FAILPOINT: 'copy.ended:throw:1' })
    environmentId = await makeEnvironment(ours.server, 'bazaar')
    await ours.server.must('POST', `/environment/${environmentId}/container`, {
      ...{ name: 'stall', registry_id: await firstRegistry(), image_name: 'team/stall', tag: '1' },
      ports: [],
      storage: [{ type: 'FAST_SSD', size: 1, mount_point: '/data' }],
      healthchecks: {},
    })
  })
  after(() => ours?.close())

  const firstRegistry = async (): Promise<string> => {
    const path = `/organization/${ours.server.organizationId}/containerRegistry`
    const { results } = await ours.server.must<{ results: { id: string }[] }>('GET', path)
    return results[0]?.id ?? ''
  }
  const copies = () => ours.page.getByRole('region', { name: 'Copies', exact: true })
  const row = (name: string) => copies().getByRole('row').filter({ hasText: name })
  const copy = (name: string) =>
    ours.server.must('POST', `/environment/${environmentId}/clone`, { name, mode: 'STAGING', with_data: true })

  it('says without a reload that a copy has failed, and why', async () => {
    await ours.open('')
    await ours.page.getByRole('heading', { name: 'bazaar' }).waitFor()
    assert.equal(await copies().count(), 0)
    await copy('broken')
    await row('broken').getByText('error', { exact: true }).waitFor()
    await row('broken').getByText('failpoint copy.ended').waitFor()
    assert.deepEqual(await violations(ours.page), [])
  })

  it('links to a copy that has succeeded, with the size of its data', async () => {
    await copy('whole')
    await row('whole').getByText('success', { exact: true }).waitFor()
    await row('whole')
      .getByText(/settings and .*B of data/)
      .waitFor()
    await ours.page.setViewportSize({ width: 380, height: 700 })
    assert.equal(await ours.page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
    assert.deepEqual(await violations(ours.page), [])
    await row('whole').getByRole('link').click()
    await ours.page.getByRole('heading', { name: 'whole' }).waitFor()
    assert.deepEqual(ours.objections, [])
  })
})

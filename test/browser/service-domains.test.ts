import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { gone } from '../support/gone.ts'
import { issued } from '../support/issued.ts'
import { web } from '../support/trees.ts'

// A person who gives a service a domain of their own. The tests build on each other.

describe('custom domains in the console', { skip: noBrowser ?? false }, () => {
  let session: TestConsole
  let shop: TestApplication

  before(async () => {
    session = await openConsole()
    const environmentId = await makeEnvironment(session.server, 'staging')
    shop = await makeApplication(session.server, { environmentId, name: 'shop' })
    await shop.run(web('first'))
  })
  after(async () => {
    await shop?.git.remove()
    await session?.close()
  })

  const press = (name: string) => session.page.getByRole('button', { name, exact: true }).click()
  const dialog = () => session.page.getByRole('dialog')
  const item = (name: string) => session.page.getByRole('article').filter({ hasText: name })
  const save = () => dialog().getByRole('button', { name: 'Save' }).click()

  it('lists the addresses of the platform, and refuses a name with the message of the API', async () => {
    const { page, home } = session
    await page.goto(`${home}/environments/${shop.environmentId}/application/${shop.id}`)
    await page.getByRole('navigation', { name: 'Service' }).getByRole('link', { name: 'Domains' }).click()
    await page
      .getByRole('row', { name: /of the platform, default/ })
      .getByRole('link', { name: shop.url })
      .waitFor()
    assert.deepEqual(await violations(page), [])
    await press('Add a domain')
    await dialog().getByLabel('Domain').fill('co.uk')
    await save()
    await dialog().getByRole('alert').filter({ hasText: 'co.uk' }).waitFor()
    assert.deepEqual(await violations(page), [])
  })

  it('adds a domain and shows the records that prove it', async () => {
    const { page } = session
    await dialog().getByLabel('Domain').fill('shop.quayside-example.org')
    await save()
    await dialog().waitFor({ state: 'detached' })
    const domain = item('shop.quayside-example.org')
    await domain.getByText('waits for its proof').waitFor()
    const record = domain.getByRole('row', { name: /^TXT/ })
    await record.getByText(`quayside-organization=${session.server.organizationId}`).waitFor()
    await record.getByRole('button').click()
    await domain.getByText('Copied.').waitFor()
    assert.equal(
      await page.evaluate('navigator.clipboard.readText()'),
      `quayside-organization=${session.server.organizationId}`,
    )
    await press('Check DNS')
    await domain.getByText(/^DNS now: /).waitFor()
    assert.deepEqual(await violations(page), [])
  })

  it('uploads a certificate, names its fault first, and deletes it', async () => {
    const { page } = session
    await press('Edit shop.quayside-example.org')
    await dialog().getByLabel('Domain').fill('own.lab.test')
    await save()
    await press('Upload a certificate for own.lab.test')
    assert.deepEqual(await violations(page), [])
    await dialog().getByLabel('Certificate chain').fill(issued.cert)
    await dialog().getByLabel('Private key').fill('not a key')
    const upload = dialog().getByRole('button', { name: 'Upload' })
    await upload.click()
    await dialog().getByRole('alert').filter({ hasText: 'not a private key in PEM format' }).waitFor()
    assert.deepEqual(await violations(page), [])
    await dialog()
      .getByLabel('Certificate chain')
      .fill(issued.cert + issued.intermediate)
    await dialog().getByLabel('Private key').fill(issued.key)
    await upload.click()
    await dialog().waitFor({ state: 'detached' })
    await item('own.lab.test').getByText('issued by Test intermediate').waitFor()
    await item('own.lab.test').getByText('speaks HTTP only').waitFor()
    assert.deepEqual(await violations(page), [])
    await press('Remove the certificate of own.lab.test')
    await dialog().getByRole('button', { name: 'Remove' }).click()
    await dialog().waitFor({ state: 'detached' })
    await item('own.lab.test').getByRole('button', { name: 'Upload a certificate for own.lab.test' }).waitFor()
  })

  it('replaces a domain, serves it, and deletes it', async () => {
    const { page, server } = session
    await press('Edit own.lab.test')
    await dialog().getByLabel('Domain').fill('shop.test')
    await dialog().getByLabel('Ask for a certificate').uncheck()
    await save()
    await item('shop.test').getByText('has traffic').waitFor()
    await item('shop.test').getByText('not requested').waitFor()
    await page.getByRole('row', { name: /shop\.test.*custom/ }).waitFor()
    await press('Delete the domain shop.test')
    await dialog().getByRole('button', { name: 'Delete' }).click()
    await dialog().waitFor({ state: 'detached' })
    await gone(item('shop.test'))
    const { results } = await server.must<{ results: unknown[] }>('GET', `/application/${shop.id}/customDomain`)
    assert.deepEqual(results, [])
    assert.deepEqual(session.objections, [])
  })
})

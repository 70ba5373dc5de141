import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { type Furnished, furnish } from '../support/furnish.ts'

// A person who copies services and an environment as a configuration of Terraform.

const resources: Readonly<Record<string, string>> = {
  application: 'qovery_application',
  container: 'qovery_container',
  database: 'qovery_database',
  job: 'qovery_job',
  helm: 'qovery_helm',
  terraform: 'qovery_terraform_service',
}

describe('configurations of Terraform in the console', { skip: noBrowser ?? false }, () => {
  let session: TestConsole
  let furnished: Furnished

  before(async () => {
    session = await openConsole()
    furnished = await furnish(session.server, (field) => field)
    await session.server.must('POST', '/variable', {
      ...{ key: 'DOOR_CODE', value: 'swordfish', is_secret: true },
      ...{ variable_scope: 'ENVIRONMENT', variable_parent_id: furnished.environmentId },
    })
  })
  after(() => session?.close())

  const dialog = () => session.page.getByRole('dialog')
  const copied = async (): Promise<string> => {
    await dialog().getByRole('button', { name: 'Copy the configuration' }).click()
    await dialog().getByText('Copied.').waitFor()
    return String(await session.page.evaluate('navigator.clipboard.readText()'))
  }

  it('shows an environment with its services, and variables instead of secrets', async () => {
    const { page } = session
    await session.open(`/environments/${furnished.environmentId}`)
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'As Terraform …' }).click()
    const text = await copied()
    for (const resource of Object.values(resources)) assert.match(text, new RegExp(`^resource "${resource}" `, 'm'))
    assert.match(text, /^resource "qovery_environment" /m)
    assert.doesNotMatch(await page.content(), /swordfish/)
    assert.match(await dialog().getByLabel('variables.tf').inputValue(), /^variable "\w*DOOR_CODE" \{$/im)
    assert.deepEqual(await violations(page), [])
  })

  it('shows a project with a file for each environment', async () => {
    const { page } = session
    await session.open(`/projects/${furnished.projectId}/settings`)
    await page.getByRole('button', { name: 'As Terraform …' }).click()
    const text = await copied()
    for (const resource of Object.values(resources)) assert.match(text, new RegExp(`^resource "${resource}" `, 'm'))
    assert.match(text, /^resource "qovery_project" "project_name" \{$/m)
    assert.match(text, /project_id = qovery_project\.project_name\.id/)
    assert.match(await dialog().getByLabel('environment_environment_name.tf').inputValue(), /^resource "qovery_env/)
    assert.doesNotMatch(await page.content(), /swordfish/)
    assert.deepEqual(await violations(page), [])
  })

  for (const [kind, resource] of Object.entries(resources)) {
    it(`shows the block of a service of the kind ${kind}`, async () => {
      const id = furnished.services[kind]
      await session.open(`/environments/${furnished.environmentId}/${kind}/${id}/settings`)
      await session.page.getByRole('button', { name: 'As Terraform …' }).click()
      const text = await copied()
      assert.match(text, new RegExp(`^resource "${resource}" "`))
      assert.equal(text.match(/^resource /gm)?.length, 1)
      assert.ok(text.includes(`  name = "${kind} name"\n`), text)
      assert.deepEqual(session.objections, [])
    })
  }
})

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { listPages } from '../support/console-pages.ts'
import { type Furnished, furnish } from '../support/furnish.ts'
import { openGuest, roleNamed } from '../support/guest.ts'
import { quietPage } from '../support/quiet.ts'

// People with each role press the buttons that it permits. Others are disabled and say why.

/** Buttons that change nothing on the server. */
const harmless = new RegExp(
  `^(?:${[
    'Download|Copy the .*|Close|Search.*|Map|Table|Lines|Changes of .*|Reset.*|Newest lines',
    'More|As Terraform …|Sign out|Show.*|Pause|Continue|Try again|Check DNS|As curl …',
    '.* use .*|no service.*',
    // They edit a form before it is sent.
    'Add an? (?!git|container|Helm).*|Remove [a-z ]+ [0-9]+',
  ].join('|')})$`,
)

/** Pages that a viewer may not read. The API requires ADMIN for them. */
const closed = /\/settings\/audit$/

/** The environment is in the mode that the custom role may deploy. */
const mode = 'DEVELOPMENT'

interface Expected {
  /** Buttons of the page of the environment that the role may press. */
  readonly may: readonly string[]
  /** Buttons that it may not press, and the permission that is missing. */
  readonly mayNot: Readonly<Record<string, string>>
  /** Whether it may create a project. */
  readonly projects: boolean
}
const roles: Readonly<Record<string, Expected>> = {
  Admin: { may: ['Delete …', 'Copy …', 'Review and deploy'], mayNot: {}, projects: true },
  DevOps: { may: ['Delete …', 'Copy …', 'Review and deploy'], mayNot: {}, projects: true },
  Deployers: { may: ['Review and deploy'], mayNot: { 'Delete …': 'ADMIN', 'Copy …': 'WRITE' }, projects: false },
  Viewer: {
    may: [],
    mayNot: { 'Delete …': 'ADMIN', 'Copy …': 'WRITE', 'Review and deploy': 'DEPLOY' },
    projects: false,
  },
}

describe('roles in the console', { skip: noBrowser ?? false }, () => {
  let ours: TestConsole
  let furnished: Furnished
  const people = new Map<string, Page>()

  before(async () => {
    ours = await openConsole()
    furnished = await furnish(ours.server, (field) => field)
    await createDeployers()
  })
  after(() => ours?.close())

  async function createDeployers(): Promise<void> {
    const path = `/organization/${ours.server.organizationId}/customRole`
    const { id } = await ours.server.must<{ id: string }>('POST', path, { name: 'Deployers' })
    const { cluster_permissions } = await ours.server.must<{ cluster_permissions: unknown }>('GET', `${path}/${id}`)
    const permissions = [{ environment_type: mode, permission: 'DEPLOYER' }]
    await ours.server.must('PUT', `${path}/${id}`, {
      name: 'Deployers',
      cluster_permissions,
      project_permissions: [{ project_id: furnished.projectId, is_admin: false, permissions }],
    })
  }

  const guest = async (role: string): Promise<Page> => {
    const page = people.get(role) ?? (await openGuest(ours, await roleNamed(ours, role), role))
    people.set(role, page)
    return page
  }
  /** The rare actions of an environment are in a menu. */
  const reasonAt = async (page: Page, name: string): Promise<string | null> => {
    const main = page.getByRole('main')
    const button = main.getByRole('button', { name, exact: true }).first()
    if ((await button.count()) > 0) return button.getAttribute('title')
    const item = main.getByRole('menuitem', { name, exact: true })
    if ((await item.count()) === 0) await main.getByRole('button', { name: 'More', exact: true }).click()
    return item.getAttribute('title')
  }

  for (const [role, { may, mayNot, projects }] of Object.entries(roles)) {
    it(`lets ${role} press what the role permits, and says why not`, async () => {
      const page = await guest(role)
      await page.getByRole('heading', { level: 1 }).waitFor()
      const create = await reasonAt(page, 'New project')
      assert.equal(create === null, projects, `${create}`)
      await quietPage(page).open(`${ours.home}/environments/${furnished.environmentId}`)
      for (const name of may) assert.equal(await reasonAt(page, name), null, name)
      for (const [name, permission] of Object.entries(mayNot)) {
        assert.match(String(await reasonAt(page, name)), new RegExp(`needs the permission ${permission}`), name)
      }
      assert.deepEqual(await violations(page), [])
    })
  }

  it('shows a billing manager no project, and no way to create one', async () => {
    const page = await guest('Billing Manager')
    const create = page.getByRole('button', { name: 'Create both' })
    assert.match(String(await create.getAttribute('title')), /needs the permission/)
  })

  it('lets a viewer press nothing on any page that the API would refuse', async () => {
    const page = await guest('Viewer')
    const quiet = quietPage(page)
    const wrong: string[] = []
    for (const { address, heading } of listPages(furnished, (field) => field)) {
      const shown = await quiet.open(`${ours.server.apiUrl}${address}`)
      if (closed.test(address)) {
        await page.getByRole('alert').getByText('This needs the permission ADMIN').waitFor()
        continue
      }
      // Only administrators see the path of a webhook's address.
      const isWebhook = /\/settings\/webhooks\/[^/]+$/.test(address)
      assert.equal(shown, isWebhook ? `${new URL(heading).origin}/***` : heading, address)
      const names = await page.evaluate<string[]>(`[...document.querySelectorAll('button:not([aria-disabled="true"])')]
        .map((button) => button.ariaLabel ?? button.innerText.trim())`)
      wrong.push(...names.filter((name) => !harmless.test(name)).map((name) => `${name} at ${address}`))
    }
    assert.deepEqual(wrong, [])
  })

  it('says the same as the API', async () => {
    const { token } = await ours.server.must<{ token: string }>(
      'POST',
      `/organization/${ours.server.organizationId}/apiToken`,
      { name: 'viewer', role_id: await roleNamed(ours, 'Viewer') },
    )
    const answer = await fetch(`${ours.server.apiUrl}/environment/${furnished.environmentId}/deploy`, {
      method: 'POST',
      headers: { authorization: `Token ${token}` },
    })
    assert.equal(answer.status, 403)
    assert.match(await answer.text(), /This needs the permission DEPLOY/)
    assert.match(
      String(await reasonAt(await guestAtEnvironment(), 'Review and deploy')),
      /This needs the permission DEPLOY/,
    )
  })

  const guestAtEnvironment = async (): Promise<Page> => {
    const page = await guest('Viewer')
    await quietPage(page).open(`${ours.home}/environments/${furnished.environmentId}`)
    return page
  }

  it('enables an action as soon as the person gets the role, after the next visit', async () => {
    const { server } = ours
    const path = `/organization/${server.organizationId}/member`
    const { results } = await server.must<{ results: { id: string; email: string }[] }>('GET', path)
    const member = results.find(({ email }) => email === 'viewer@example.org')
    await server.must('PUT', path, { user_id: member?.id, role_id: await roleNamed(ours, 'Admin') })
    assert.equal(await reasonAt(await guestAtEnvironment(), 'Delete …'), null)
  })
})

import type { Page } from 'playwright-core'
import type { TestConsole } from './console.ts'

const password = 'a long enough password'

/**
 * Invites a person with a role, creates the account by the link and signs the person in, in a
 * window of their own. Returns the page at the organization.
 */
export async function openGuest({ server, browser, home }: TestConsole, roleId: string, name: string): Promise<Page> {
  const email = `${name.toLowerCase().replaceAll(' ', '-')}@example.org`
  const path = `/organization/${server.organizationId}/inviteMember`
  const { invitation_link: link } = await server.must<{ invitation_link: string }>('POST', path, {
    email,
    role_id: roleId,
  })
  const page = await (await browser.context({ viewport: { width: 1200, height: 900 } })).newPage()
  page.setDefaultTimeout(20_000)
  await page.goto(link)
  await page.getByLabel('Name').fill(name)
  await page.getByLabel(/^Password/).fill(password)
  await page.getByRole('button', { name: 'Join' }).click()
  await page.getByRole('heading').filter({ hasNotText: 'Join' }).waitFor()
  await page.goto(home)
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(home)
  return page
}

/** Returns the id of a role of the organization by its name. */
export async function roleNamed({ server }: TestConsole, name: string): Promise<string> {
  const path = `/organization/${server.organizationId}/availableRole`
  const { results } = await server.must<{ results: { id: string; name: string }[] }>('GET', path)
  const role = results.find((one) => one.name === name)
  if (!role) throw new Error(`the organization has no role "${name}"`)
  return role.id
}

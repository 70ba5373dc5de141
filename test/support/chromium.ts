import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import axe from 'axe-core'
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { findProgram } from './find-program.ts'
import type { ServerProcess } from './server-process.ts'

const program = await findProgram('chromium')

/** Why this machine has no browser for tests. Undefined if it has one. */
export const noBrowser: string | undefined = program
  ? undefined
  : 'there is no "chromium" in PATH; npm test installs it as root on Debian and Ubuntu'

/** The owner of the first organization, whom a test makes by the link of the first start. */
export const owner = { name: 'Ada Owner', email: 'ada@example.org', password: 'correct horse battery staple' }

/** A real browser. */
export interface TestBrowser {
  /** Opens a window of its own, with its own cookies. */
  context(options?: Parameters<Awaited<ReturnType<typeof launch>>['newContext']>[0]): Promise<BrowserContext>
  close(): Promise<void>
}

const launch = (path: string, options: readonly string[]) =>
  // Chromium as root needs it. Only pages of the server under test are opened.
  chromium.launch({ executablePath: path, args: ['--no-sandbox', '--disable-dev-shm-usage', ...options] })

/** `domain`: all hosts below it are on this machine. */
export async function openTestBrowser(domain?: string): Promise<TestBrowser> {
  if (program === undefined) throw new Error(noBrowser)
  const hosts = domain === undefined ? [] : [`--host-resolver-rules=MAP *.${domain} 127.0.0.1`]
  const browser = await launch(program, hosts)
  return { context: (options) => browser.newContext(options), close: () => browser.close() }
}

/** Creates the first account by its link, in the browser. */
export async function createOwner(page: Page, server: ServerProcess): Promise<void> {
  const link = (await readFile(join(server.dataDirectory, 'account-link'), 'utf8')).trim()
  await page.goto(link)
  await page.getByLabel('Name').fill(owner.name)
  await page.getByLabel('E-mail address').fill(owner.email)
  await page.getByLabel(/^Password/).fill(owner.password)
  await page.getByRole('button').click()
  await page.getByRole('link', { name: server.apiUrl }).waitFor()
}

/**
 * Opens the form of the issuer. Chromium aborts what it loads when the machine gets a network,
 * which other tests create, so an empty page is opened again.
 */
async function openForm(page: Page, url: string, attempts = 3): Promise<void> {
  try {
    await page.goto(url)
    await page.getByLabel('E-mail address').waitFor({ timeout: 15_000 })
  } catch (error) {
    if (attempts === 1) throw error
    await openForm(page, url, attempts - 1)
  }
}

/** Opens an address of the console and signs in on the page of the issuer. */
export async function signIn(page: Page, url: string): Promise<void> {
  await openForm(page, url)
  await page.getByLabel('E-mail address').fill(owner.email)
  await page.getByLabel('Password').fill(owner.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/**
 * Lists what axe objects to on a page, each with the elements. `rules` names the rules to check,
 * such as `color-contrast`. Without it, all are checked.
 */
export async function violations(page: Page, rules?: readonly string[]): Promise<string[]> {
  await page.evaluate(axe.source)
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) }
  // The script has just made it.
  const found = await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)
  const list: unknown = Object(found).violations
  return Array.isArray(list)
    ? list.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }: { html: string }) => html).join(' ')}`)
    : ['axe did not run']
}

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { makeEnvironment } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { openGitRemote } from '../support/git-remote.ts'
import { gone } from '../support/gone.ts'
import { get } from '../support/traffic.ts'
import { web } from '../support/trees.ts'

// A person who makes a project, an environment and services in the console. The tests build on each
// other.

/** The other kinds: fields by label, with values that the API accepts and one that it rejects. */
const others: Readonly<Record<string, { source: string; wrong: Fields; message: string; good: Fields }>> = {
  container: {
    source: 'Image',
    good: { Image: 'library/nginx', Tag: '1.27' },
    wrong: { Image: 'Not an image' },
    message: 'image_name must be the path of an image',
  },
  database: {
    source: 'Database',
    good: { Type: 'REDIS', Version: '7', Storage: '10' },
    wrong: { Storage: '1' },
    message: 'storage must be ≥ 10.',
  },
  job: {
    source: 'Job',
    good: { Image: 'library/nginx', Tag: '1.27', Timetable: '0 4 * * *' },
    wrong: { Timetable: 'often' },
    message: 'schedule.cronjob.scheduled_at must have five fields',
  },
  helm: {
    source: 'Chart',
    good: { Repository: 'https://example.org/charts.git', Values: 'replicas: 2' },
    wrong: { Repository: 'nonsense' },
    message: 'source.git_repository.url: The repository address must begin with https://',
  },
  terraform: {
    source: 'Stack',
    good: { Repository: 'https://example.org/stack.git', Engine: 'OPEN_TOFU', Version: '1.12' },
    wrong: { Repository: 'nonsense' },
    message: 'terraform_files_source.git_repository.url: The repository address must begin with https://',
  },
}
type Fields = Readonly<Record<string, string>>

async function fill(page: Page, fields: Fields): Promise<void> {
  for (const [label, value] of Object.entries(fields)) {
    const control = page.getByRole('main').getByLabel(label, { exact: true })
    const isChoice = (await control.and(page.locator('select')).count()) > 0
    await (isChoice ? control.selectOption(value) : control.fill(value))
  }
}

describe('making things in the console', { skip: noBrowser ?? false }, () => {
  let session: TestConsole
  let environmentId: string

  before(async () => {
    session = await openConsole()
  })
  after(() => session?.close())

  const dialog = (): Locator => session.page.getByRole('dialog')
  const press = (name: string | RegExp, inside: Pick<Locator, 'getByRole'> = session.page): Promise<void> =>
    inside.getByRole('button', { name }).click()
  const confirm = async (name: string, button: string): Promise<void> => {
    const send = dialog().getByRole('button', { name: button })
    assert.equal(await send.getAttribute('aria-disabled'), 'true')
    await dialog().getByLabel('to confirm').fill(name)
    await send.click()
  }

  it('creates a project, and shows the reason of the API if its name is taken', async () => {
    const { page, server } = session
    const { name: taken } = (
      await server.must<{ results: { name: string }[] }>('GET', `/organization/${server.organizationId}/project`)
    ).results[0] ?? { name: '' }
    await press('New project')
    await dialog().getByLabel('Name').fill(taken)
    assert.deepEqual(await violations(page), [])
    await press('Create the project', dialog())
    await dialog().getByRole('alert').getByText('already exists').waitFor()
    await dialog().getByLabel('Name').fill('Shop')
    await press('Create the project', dialog())
    await page.getByRole('heading', { name: 'Shop' }).waitFor()
    assert.deepEqual(await violations(page), [])
  })

  it('creates an environment on a cluster, and shows the message about a field beside it', async () => {
    const { page, server } = session
    const project = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Shop' }) })
    await press('New environment', project)
    await dialog().getByLabel('Name').fill('x'.repeat(256))
    assert.deepEqual(await violations(page), [])
    await press('Create the environment', dialog())
    await dialog().getByText('name must have at most 255 characters.').waitFor()
    await dialog().getByLabel('Name').fill('staging')
    await dialog().getByLabel('Mode').selectOption('STAGING')
    await press('Create the environment', dialog())
    await page.getByRole('heading', { name: 'staging' }).waitFor()
    const [, id = ''] = /environments\/([\w-]+)$/.exec(page.url()) ?? []
    const { mode } = await server.must<{ mode: string }>('GET', `/environment/${id}`)
    assert.equal(mode, 'STAGING')
  })

  it('deletes an environment and then its project once their names are typed', async () => {
    const { page, home } = session
    await press('More')
    await page.getByRole('menuitem', { name: 'Delete …' }).click()
    assert.deepEqual(await violations(page), [])
    await confirm('staging', 'Delete the environment')
    await page.waitForURL(home)
    const project = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Shop' }) })
    await project.getByText('no environment yet').waitFor()
    await press('Delete', project)
    await confirm('Shop', 'Delete the project')
    await gone(page.getByRole('heading', { name: 'Shop' }))
  })

  it('offers six sources for a new service', async () => {
    const { page, server, home } = session
    environmentId = await makeEnvironment(server, 'bazaar')
    await page.goto(`${home}/environments/${environmentId}`)
    await page.getByRole('link', { name: 'New service' }).click()
    await page.getByRole('heading', { name: 'New service in bazaar' }).waitFor()
    assert.equal(await page.getByRole('main').getByRole('listitem').count(), 6)
    assert.deepEqual(await violations(page), [])
  })

  it('makes an application of a repository, whose deployment answers at its URL', async (t) => {
    const { page, server } = session
    const git = await openGitRemote({ url: `${server.apiUrl}/git/stall.git`, token: server.token })
    t.after(() => git.remove())
    await git.push(web('open'))
    await page.getByRole('link', { name: /^Repository/ }).click()
    await page.getByLabel('Name', { exact: true }).fill('stall')
    // The browser offers the repositories of the built-in git host.
    await page.locator(`datalist option[value="${git.url}"]`).waitFor({ state: 'attached' })
    await page.getByLabel('Repository').fill(git.url)
    await page.getByLabel('Port of the program').fill('0')
    assert.deepEqual(await violations(page), [])
    await press('Create the service')
    await page.getByText('ports[0].internal_port must be ≥ 1.').waitFor()
    await page.getByLabel('Port of the program').fill('8080')
    await press('Create the service')
    await page.getByRole('heading', { name: 'stall' }).waitFor()
    await press('Deploy')
    await page.locator('main header').getByText('deployed', { exact: true }).waitFor({ timeout: 90_000 })
    const url = await page.getByRole('link', { name: /^http:\/\/stall/ }).innerText()
    assert.deepEqual(await get(url), { status: 200, body: 'open' })
  })

  for (const [kind, { source, wrong, message, good }] of Object.entries(others)) {
    it(`makes a ${kind}, and shows the message of the API about a wrong setting beside it`, async () => {
      const { page, server, home } = session
      await page.goto(`${home}/environments/${environmentId}/new`)
      await page.getByRole('link', { name: new RegExp(`^${source}`) }).click()
      await page.getByLabel('Name', { exact: true }).fill(`my-${kind}`)
      await fill(page, { ...good, ...wrong })
      assert.deepEqual(await violations(page), [])
      await press('Create the service')
      await page.getByText(message).waitFor()
      await fill(page, good)
      await press('Create the service')
      await page.getByRole('heading', { name: `my-${kind}` }).waitFor()
      const { results } = await server.must<{ results: { name: string; service_type: string }[] }>(
        'GET',
        `/environment/${environmentId}/services`,
      )
      assert.equal(results.find(({ name }) => name === `my-${kind}`)?.service_type, kind.toUpperCase())
    })
  }

  it('fills the form of a job by a template, and names the variables that the job needs', async () => {
    const { page, server, home } = session
    await page.goto(`${home}/environments/${environmentId}/new/job`)
    await page.getByLabel('Name', { exact: true }).fill('infrastructure')
    const template = page.getByLabel('Template')
    const tofu = await template.locator('option').filter({ hasText: 'OpenTofu' }).first().getAttribute('value')
    await template.selectOption(tofu)
    await page.getByText('The job needs these variables before its first deployment:').waitFor()
    assert.match(await page.getByLabel('Dockerfile', { exact: true }).inputValue(), /^FROM .*opentofu/)
    await page.getByLabel('Repository').fill(`${server.apiUrl}/git/infrastructure.git`)
    assert.deepEqual(await violations(page), [])
    await press('Create the service')
    await page.getByRole('heading', { name: 'infrastructure' }).waitFor()
    const [, id = ''] = /job\/([\w-]+)/.exec(page.url()) ?? []
    const job = Object(await server.must('GET', `/job/${id}`))
    assert.match(job.source.docker.dockerfile_raw, /tofu apply/)
    assert.deepEqual(job.schedule.on_delete, { entrypoint: '/bin/sh', arguments: ['/job/run.sh', 'delete'] })
    assert.equal(job.schedule.on_stop ?? null, null)
    assert.equal(job.max_duration_seconds, 1800)
  })

  it('has no error in its scripts', () => assert.deepEqual(session.errors, []))
})

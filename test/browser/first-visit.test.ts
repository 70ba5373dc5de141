import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole } from '../support/console.ts'
import { openGitRemote } from '../support/git-remote.ts'
import { get } from '../support/traffic.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'

test('an organization without environments leads to a URL that answers', { skip: noBrowser ?? false }, async (t) => {
  const { page, server, errors, close } = await openConsole()
  t.after(close)
  const git = await openGitRemote({ url: `${server.apiUrl}/git/stall.git`, token: server.token })
  t.after(() => git.remove())
  await git.push(web('open'))

  const list = async (path: string) => (await server.must<{ results: { id: string }[] }>('GET', path)).results
  for (const { id: project } of await list(`/organization/${server.organizationId}/project`)) {
    for (const { id } of await list(`/project/${project}/environment`))
      await server.must('DELETE', `/environment/${id}`)
    const isEmpty = async () => (await list(`/project/${project}/environment`)).length === 0 || undefined
    await until('the project is empty', isEmpty, { limitMs: 60_000 })
    await server.must('DELETE', `/project/${project}`)
  }
  await page.reload()

  await page.getByRole('heading', { name: 'Three steps to a URL' }).waitFor()
  assert.deepEqual(await violations(page), [])
  await page.getByLabel('Environment').fill('x'.repeat(256))
  await page.getByRole('button', { name: 'Create both' }).click()
  await page.getByText('name must have at most 255 characters.').waitFor()
  // The project is there already, and the form stays.
  await page.getByRole('heading', { name: 'my-project', exact: true }).waitFor()
  await page.getByLabel('Environment').fill('production')
  await page.getByRole('button', { name: 'Create both' }).click()

  await page.getByRole('link', { name: /^Repository/ }).click()
  await page.getByLabel('Name', { exact: true }).fill('stall')
  await page.getByLabel('Repository').fill(git.url)
  await page.getByRole('button', { name: 'Create the service' }).click()
  await page.getByText('It is not deployed yet.').waitFor()
  assert.deepEqual(await violations(page), [])
  await page.getByRole('button', { name: 'Deploy' }).click()
  await page.locator('main header').getByText('deployed', { exact: true }).waitFor({ timeout: 90_000 })
  const url = await page.getByRole('link', { name: /^http:\/\/stall/ }).innerText()
  assert.deepEqual(await get(url), { status: 200, body: 'open' })
  assert.deepEqual(errors, [])
})

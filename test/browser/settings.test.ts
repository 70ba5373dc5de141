import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Locator } from 'playwright-core'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { gone } from '../support/gone.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'

// A person who changes the settings of services in the console and deletes one. The tests build on
// each other.

type Record = Readonly<globalThis.Record<string, unknown>>
const repository = { url: 'https://example.org/shop.git', branch: 'main', root_path: '/one' }
const limits = { cpu: 300, memory: 300 }

/** Services with settings of which a form must lose none. */
const bodies = (registry: string): globalThis.Record<string, object> => {
  const image = { registry_id: registry, image_name: 'library/nginx', tag: '1.27' }
  return {
    container: {
      ...image,
      ...limits,
      min_running_instances: 1,
      max_running_instances: 2,
      entrypoint: '/bin/server',
      arguments: ['--verbose', 'now'],
      ports: [
        { internal_port: 80, publicly_accessible: true, protocol: 'HTTP', public_path: '/shop' },
        { internal_port: 9000, publicly_accessible: false, protocol: 'TCP', name: 'debug' },
      ],
      storage: [{ type: 'FAST_SSD', size: 2, mount_point: '/data' }],
      healthchecks: { liveness_probe: { type: { exec: { command: ['true', 'indeed'] } }, period_seconds: 7 } },
    },
    database: { type: 'REDIS', version: '7', mode: 'CONTAINER', accessibility: 'PUBLIC', ...limits, storage: 11 },
    job: {
      ...limits,
      source: { docker: { git_repository: repository, dockerfile_path: 'Dockerfile.job' } },
      schedule: {
        on_start: { entrypoint: 'sh', arguments: ['-c', 'true'] },
        on_delete: { arguments: ['bye'] },
        lifecycle_type: 'GENERIC',
      },
      max_nb_restart: 2,
      max_duration_seconds: 60,
    },
    helm: {
      source: { git_repository: repository },
      arguments: ['--wait-for-jobs'],
      values_override: { set: [['a', 'b']], file: { raw: { values: [{ name: 'v.yaml', content: 'a: 1' }] } } },
    },
    terraform: {
      terraform_files_source: { git_repository: repository },
      terraform_variables_source: {
        tf_var_file_paths: ['prod.tfvars'],
        tf_vars: [
          { key: 'size', value: '3' },
          { key: 'password', value: 'swordfish', secret: true },
        ],
      },
      backend: { kubernetes: {} },
      engine: 'OPEN_TOFU',
      provider_version: { explicit_version: '1.12' },
    },
  }
}

describe('settings in the console', { skip: noBrowser ?? false }, () => {
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

  const press = (name: string): Promise<void> => session.page.getByRole('button', { name, exact: true }).click()
  const section = (title: string): Locator =>
    session.page.locator('section').filter({ has: session.page.getByRole('heading', { name: title, exact: true }) })
  const record = (): Promise<Record> => session.server.must('GET', `/application/${shop.id}`)

  it('shows the message of the API beside a wrong setting, and resets', async () => {
    const { page, home } = session
    await page.goto(`${home}/environments/${shop.environmentId}/application/${shop.id}`)
    await page.getByRole('navigation', { name: 'Service' }).getByRole('link', { name: 'Settings' }).click()
    const save = page.getByRole('button', { name: 'Save', exact: true })
    assert.equal(await save.getAttribute('aria-description'), 'nothing is changed')
    await page.getByLabel('Memory').fill('lots')
    await press('Save')
    await section('Resources').getByText('memory must be a whole number.').waitFor()
    assert.deepEqual(await violations(page), [])
    await press('Reset')
    assert.equal(await page.getByLabel('Memory').inputValue(), '64')
    await page.getByText('Everything is saved.').waitFor()
  })

  it('shows the effect of changes, saves them and deploys them', async () => {
    const { page } = session
    await page.getByLabel('Memory').fill('96')
    await page.getByLabel('Readiness').selectOption('HTTP request')
    await page.getByLabel('First after').fill('0')
    await press('Add a volume')
    await page.getByLabel('Path in the program').fill('/data')
    await press('Add a port')
    await section('Ports').getByLabel('Port of the program').nth(1).fill('9100')
    await section('Ports').getByLabel('Public').nth(1).uncheck()
    await press('Show the effect')
    await page.getByText('replaces the running version').waitFor()
    assert.deepEqual(await violations(page), [])
    await press('Save')
    await page.getByText('Everything is saved.').waitFor()
    const { memory, storage, ports, healthchecks } = await record()
    assert.equal(memory, 96)
    assert.deepEqual(Object(storage)[0].mount_point, '/data')
    assert.deepEqual(Object(ports)[1].internal_port, 9100)
    assert.deepEqual(Object(healthchecks).readiness_probe.type, { http: { path: '/', scheme: 'HTTP', port: 8080 } })
    await press('Deploy with the changes')
    await gone(page.getByText('still runs without the last changes'), 90_000)
  })

  it('changes one setting of each other kind and keeps all others', async () => {
    const { page, server, home } = session
    const { results } = await server.must<{ results: { id: string }[] }>(
      'GET',
      `/organization/${server.organizationId}/containerRegistry`,
    )
    for (const [kind, body] of Object.entries(bodies(results[0]?.id ?? ''))) {
      const made = await server.must<{ id: string }>('POST', `/environment/${shop.environmentId}/${kind}`, {
        name: `a-${kind}`,
        ...body,
      })
      const one = async (): Promise<Record> => {
        const { updated_at: _, description: __, ...rest } = await server.must<Record>('GET', `/${kind}/${made.id}`)
        return rest
      }
      const before = await one()
      await page.goto(`${home}/environments/${shop.environmentId}/${kind}/${made.id}/settings`)
      await page.getByLabel('Description').fill('changed')
      assert.deepEqual(await violations(page), [], kind)
      await press('Save')
      await page.getByText('Everything is saved.').waitFor()
      assert.deepEqual(await one(), before)
      const { description } = await server.must<Record>('GET', `/${kind}/${made.id}`)
      assert.equal(description, 'changed')
    }
  })

  it('adds and removes a restriction of pushes, and shows why a path is wrong', async () => {
    const { page, home } = session
    await page.goto(`${home}/environments/${shop.environmentId}/application/${shop.id}/settings`)
    const pushes = section('Pushes that deploy')
    await pushes.getByText('Each push to the branch').waitFor()
    await press('Add a restriction')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Path').fill('/services/shop')
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await dialog.getByRole('alert').filter({ hasText: 'value' }).waitFor()
    assert.deepEqual(await violations(page), [])
    await dialog.getByLabel('A push deploys').selectOption('no changes inside')
    await dialog.getByLabel('Path').fill('docs')
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await pushes.getByRole('row').filter({ hasText: 'docs' }).getByText('no changes inside').waitFor()
    assert.deepEqual(await violations(page), [])
    await press('Remove the restriction of “docs”')
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click()
    await pushes.getByText('Each push to the branch').waitFor()
  })

  it('deletes a service once its name is typed, and says what is lost', async () => {
    const { page, server, home } = session
    await server.must('POST', `/application/${shop.id}/customDomain`, {
      domain: 'shop.test',
      generate_certificate: false,
    })
    await page.goto(`${home}/environments/${shop.environmentId}/application/${shop.id}/settings`)
    await press('Delete the application')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('the volume of shop at /data (10 GB)').waitFor()
    await dialog.getByText('the custom domain shop.test').waitFor()
    assert.deepEqual(await violations(page), [])
    await dialog.getByLabel('to confirm').fill('shop')
    await dialog.getByRole('button', { name: 'Delete the application' }).click()
    await page.waitForURL(`${home}/environments/${shop.environmentId}`)
    await gone(page.getByRole('link', { name: 'shop', exact: true }), 60_000)
    await until('it is gone', async () => (await server.api('GET', `/application/${shop.id}`)).status === 404)
    assert.deepEqual(session.errors, [])
  })
})

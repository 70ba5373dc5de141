import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { KindName } from '@quayside/contract/services/kinds.ts'
import { containerBody, databaseBody, helmBody, jobBody, terraformBody } from '../../../test/support/objects/kinds.ts'
import type { Branch, CreateBody, EditBody, SettingsOf } from './branch.ts'
import { containerBranch } from './container.ts'
import { databaseBranch, newPassword } from './database.ts'
import { helmBranch } from './helm.ts'
import { jobBranch } from './job.ts'
import { secretName, terraformBranch } from './terraform.ts'

const registryId = '0190a000-0000-7000-8000-0000000000a1'
const ceiling = { cpu: 2000, memory: 4096, architecture: 'AMD64' as const }
const noTokens = () => undefined
const url = 'https://github.com/a/b'
const run = { arguments: [] }

/** Returns the settings that a kind makes of a body, and the error for an invalid one. */
function of<K extends KindName>(branch: Branch<K>, body: CreateBody<K>) {
  const make = (change: Partial<CreateBody<K>> = {}): SettingsOf[K] => branch.create({ ...body, ...change }, noTokens)
  const refuses = (change: Partial<CreateBody<K>>, message: RegExp): void =>
    assert.throws(() => branch.check(make(change), ceiling), { code: 'invalid', message })
  const edit = (former: SettingsOf[K], change: EditBody<K>): SettingsOf[K] => branch.change(former, change, noTokens)
  return { make, refuses, edit }
}

describe('a container', () => {
  const { make, refuses, edit } = of(containerBranch, containerBody('web', registryId))
  test('names an image, and gets the icon of its kind', () => {
    const settings = make()
    containerBranch.check(settings, ceiling)
    assert.deepEqual([settings.image_name, settings.tag, settings.registry_id], ['library/hello', '1.0', registryId])
    assert.equal(settings.icon_uri, 'app://qovery-console/container')
    assert.equal(settings.ports[0]?.name, 'p8080')
  })
  test('a change of the tag leaves everything else unchanged', () => {
    const former = make({ entrypoint: '/run', ephemeral_storage_in_gib: 2 })
    assert.deepEqual(edit(former, { tag: '2.0' }), { ...former, tag: '2.0' })
    const bare = edit(former, { entrypoint: null, ephemeral_storage_in_gib: null })
    assert.ok(!('entrypoint' in bare) && !('ephemeral_storage_in_gib' in bare))
  })
  test('rejects an invalid image name', () => {
    refuses({ image_name: 'https://x/y' }, /^image_name must be the path/)
    refuses({ image_name: 'a/../b' }, /^image_name/)
    refuses({ tag: '-x' }, /^tag must be/)
    refuses({ tag: 'a b' }, /^tag must be/)
    refuses({ cpu: 2001 }, /^cpu must be ≤ 2000/)
  })
})

describe('a database', () => {
  const { make, refuses, edit } = of(databaseBranch, databaseBody('orders'))
  test('gets the memory and the icon of its type', () => {
    const memory = (change: Partial<CreateBody<'database'>>) => make(change).memory
    assert.equal(memory({}), 100)
    assert.equal(memory({ type: 'MYSQL' }), 512)
    assert.equal(memory({ type: 'MONGODB' }), 256)
    assert.equal(memory({ type: 'MYSQL', mode: 'MANAGED' }), 100)
    assert.equal(memory({ memory: 300 }), 300)
    assert.equal(make({ type: 'REDIS' }).icon_uri, 'app://qovery-console/redis')
  })
  test('keeps its type and mode, which may be sent again', () => {
    const former = make()
    assert.deepEqual(edit(former, { type: 'POSTGRESQL', mode: 'CONTAINER', version: '17' }), {
      ...former,
      version: '17',
    })
    assert.throws(() => edit(former, { type: 'MYSQL' }), { code: 'invalid', message: /^type must stay POSTGRESQL/ })
    assert.throws(() => edit(former, { mode: 'MANAGED' }), { code: 'invalid', message: /^mode must stay CONTAINER/ })
  })
  test('has storage that only grows once it was deployed', () => {
    const former = make({ storage: 20 })
    const data = { name: 'orders', dataVersion: former.version }
    databaseBranch.checkDeployed?.(former, make({ storage: 20 }), data)
    databaseBranch.checkDeployed?.(former, make({ storage: 21 }), data)
    const shrink = () => databaseBranch.checkDeployed?.(former, make({ storage: 19 }), data)
    assert.throws(shrink, { code: 'conflict', message: /20 GB and cannot shrink/ })
    databaseBranch.checkDeployed?.(former, make({ storage: 19 }), { ...data, dataVersion: null })
  })
  test('rejects another major version once it has data', () => {
    const former = make({ version: '15' })
    const upgrade = (dataVersion: string | null) =>
      databaseBranch.checkDeployed?.(former, make({ version: '16' }), { name: 'orders', dataVersion })
    upgrade(null)
    assert.throws(() => upgrade('15'), { code: 'conflict', message: /^version: "orders" has data of PostgreSQL 15/ })
  })
  test('rejects an invalid version', () => refuses({ version: 'latest; rm' }, /^version must be/))
  test('passwords are 32 letters and digits, and never the same', () => {
    assert.match(newPassword(), /^[A-Za-z0-9]{32}$/)
    assert.notEqual(newPassword(), newPassword())
  })
})

describe('a job', () => {
  const { make, refuses, edit } = of(jobBranch, jobBody('nightly'))
  const image = { image_name: 'library/hello', tag: '1', registry_id: registryId }
  test('has either an image or a repository', () => {
    assert.deepEqual(Object.keys(make().source), ['docker'])
    assert.deepEqual(make({ source: { image, docker: null } }).source, { image })
    const neither = () => make({ source: {} })
    assert.throws(neither, { message: /^source must hold exactly one of image, docker/ })
    const both = () => make({ source: { image, docker: { git_repository: { url } } } })
    assert.throws(both, { message: /^source must hold exactly one/ })
  })
  test('is a cron job or follows its environment', () => {
    assert.equal(make().icon_uri, 'app://qovery-console/cron-job')
    const life = make({ schedule: { on_start: run } })
    assert.deepEqual(life.schedule, { on_start: { arguments: [] }, lifecycle_type: 'GENERIC' })
    assert.equal(life.icon_uri, 'app://qovery-console/lifecycle-job')
    const cronjob = { ...run, timezone: 'Etc/UTC', scheduled_at: '0 4 * * *' }
    assert.throws(() => make({ schedule: { cronjob, on_start: run } }), { message: /^schedule must hold either/ })
    assert.throws(() => make({ schedule: { lifecycle_type: 'GENERIC' } }), { message: /^schedule must hold cronjob/ })
  })
  test('reads timetables as cron does', () => {
    const at = (scheduled_at: string, timezone = 'Europe/Paris') => ({
      schedule: { cronjob: { ...run, timezone, scheduled_at } },
    })
    for (const good of ['* * * * *', '*/5 0-6 1,15 JAN-MAR MON', '0 0 * * 7', '@daily', '59 23 31 12 0']) {
      jobBranch.check(make(at(good)), ceiling)
    }
    for (const bad of [
      '',
      '* * * *',
      '60 * * * *',
      '* * 0 * *',
      '5-1 * * * *',
      '*/0 * * * *',
      'a * * * *',
      '1,, * * * *',
    ]) {
      refuses(at(bad), /^schedule\.cronjob\.scheduled_at/)
    }
    refuses(at('* * * * *', 'Nowhere/Land'), /^schedule\.cronjob\.timezone/)
  })
  test('keeps the members that a change omits', () => {
    const former = make({ port: 80, auto_deploy: true })
    assert.deepEqual(edit(former, { max_nb_restart: 2 }), { ...former, max_nb_restart: 2 })
    assert.equal(edit(former, { port: null }).port, null)
    assert.equal(edit(former, { auto_deploy: null }).auto_deploy, false)
  })
})

describe('a chart', () => {
  const { make, refuses, edit } = of(helmBranch, helmBody('chart'))
  const helm_repository = { repository: registryId, chart_name: 'redis', chart_version: '1.2.3' }
  const port = (change: object) => ({ internal_port: 80, protocol: 'HTTP' as const, ...change })
  test('comes from git or from a repository of charts, never from both', () => {
    assert.deepEqual(make({ source: { helm_repository, git_repository: null } }).source, { helm_repository })
    assert.throws(() => make({ source: { helm_repository, git_repository: { url } } }), {
      message: /^source must hold/,
    })
  })
  test('a port is found by a name or by selectors', () => {
    const settings = make({
      ports: [
        port({ service_name: 'web' }),
        port({ internal_port: 81, service_selectors: [{ key: 'app', value: 'x' }] }),
      ],
    })
    assert.deepEqual(
      settings.ports.map(({ name, external_port, is_default }) => [name, external_port, is_default]),
      [
        ['p80', 443, true],
        ['p81', 443, false],
      ],
    )
    assert.throws(() => make({ ports: [port({})] }), { message: /^ports\[0\] must hold exactly one/ })
    const again = edit(settings, { ports: [port({ service_name: 'web', name: 'main' })] })
    assert.equal(again.ports[0]?.id, settings.ports[0]?.id)
  })
  test('rejects values that are not JSON, and blueprints', () => {
    const values_override = { set: [], set_string: [], set_json: [['a', '{']] }
    refuses({ values_override }, /^values_override\.set_json\[0\]\[1\] must be JSON/)
    assert.throws(() => make({ blueprint_id: registryId }), { message: /^blueprint_id must be null/ })
  })
})

describe('a stack', () => {
  const { make, refuses, edit } = of(terraformBranch, terraformBody('stack'))
  const variables = (...tf_vars: { key: string; value?: string; secret: boolean }[]) => ({
    terraform_variables_source: { tf_var_file_paths: [], tf_vars },
  })
  test('keeps no value of a secret variable in its settings', () => {
    const settings = make(
      variables({ key: 'a', value: 'open', secret: false }, { key: 'b', value: 'hidden', secret: true }),
    )
    assert.deepEqual(settings.terraform_variables_source.tf_vars, [
      { key: 'a', value: 'open', secret: false },
      { key: 'b', value: '', secret: true },
    ])
    const sent = variables({ key: 'b', value: 'hidden', secret: true }, { key: 'c', value: '', secret: true })
    assert.deepEqual(terraformBranch.secrets?.(sent), { [secretName('b')]: 'hidden', [secretName('c')]: undefined })
    assert.equal(terraformBranch.secrets?.({}), undefined)
  })
  test('stores its state in one place', () => {
    assert.equal(make({ backend: { user_provided: {}, kubernetes: null } }).backend, 'user_provided')
    assert.throws(() => make({ backend: {} }), { message: /^backend must hold exactly one/ })
  })
  test('rejects invalid variables and versions and more resources than exist', () => {
    refuses(variables({ key: 'a b', secret: false }), /tf_vars\[0\]\.key must be/)
    refuses(variables({ key: 'a', secret: false }, { key: 'a', secret: true }), /tf_vars\[1\]\.key is used twice/)
    refuses({ provider_version: { read_from_terraform_block: false, explicit_version: 'x' } }, /^provider_version/)
    refuses({ job_resources: { cpu_milli: 9000, ram_mib: 1, gpu: 0, storage_gib: 1 } }, /^job_resources\.cpu_milli/)
    assert.throws(() => make({ dockerfile_fragment: { type: 'file' } }), { message: /^dockerfile_fragment\.path/ })
  })
  test('keeps the members that a change omits', () => {
    const former = make({ dockerfile_fragment: { type: 'inline', content: 'RUN true' } })
    assert.deepEqual(edit(former, { timeout_sec: 5 }), { ...former, timeout_sec: 5 })
    assert.equal(edit(former, { dockerfile_fragment: null }).dockerfile_fragment, null)
  })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { networkName } from '../engines/docker/labels.ts'
import { Secret } from '../lib/secret.ts'
import { type BuiltInFacts, builtInsOf, internalHost, type ServiceFacts } from './built-ins.ts'

const created_at = new Date('2026-01-01T00:00:00Z')
const fact = (id: string, name: string) => ({ id, name, created_at, updated_at: created_at })
const service = (id: string, more: Partial<ServiceFacts> = {}): ServiceFacts => ({
  ...fact(id, `name of ${id}`),
  kind: 'application',
  branch: 'main',
  ...more,
})
const one = service('0190aaaa-0000-7000-8000-000000000001', { externalHost: 'one.localhost', commit: 'c1' })
const two = service('0191bbbb-0000-7000-8000-000000000002')
const project = fact('p', 'project')
const environment = {
  ...fact('e', 'staging'),
  mode: 'STAGING',
  cluster: { name: 'built-in', cloud_provider: 'ON_PREMISE', region: 'local', hasEngine: false },
  services: [one, two],
}
const valuesOf = (facts: BuiltInFacts): Record<string, string> =>
  Object.fromEntries(
    builtInsOf(facts).map(({ key, value }) => [key, value instanceof Secret ? `secret ${value.reveal()}` : value]),
  )

test('a project has only its id', () => {
  assert.deepEqual(valuesOf({ project }), { QOVERY_PROJECT_ID: 'p' })
})

test('an environment describes itself, its cluster and every announced service', () => {
  assert.deepEqual(valuesOf({ project, environment }), {
    QOVERY_PROJECT_ID: 'p',
    QOVERY_ENVIRONMENT_ID: 'e',
    QOVERY_ENVIRONMENT_NAME: 'staging',
    QOVERY_ENVIRONMENT_TYPE: 'STAGING',
    QOVERY_CLOUD_PROVIDER: 'ON_PREMISE',
    QOVERY_CLOUD_PROVIDER_REGION: 'local',
    QOVERY_KUBERNETES_CLUSTER_NAME: 'built-in',
    QOVERY_APPLICATION_Z0190AAAA_HOST_INTERNAL: internalHost(one),
    QOVERY_APPLICATION_Z0190AAAA_HOST_EXTERNAL: 'one.localhost',
    QOVERY_APPLICATION_Z0190AAAA_NAME: one.name,
    QOVERY_APPLICATION_Z0190AAAA_ENVIRONMENT_NAME: 'staging',
    QOVERY_APPLICATION_Z0190AAAA_GIT_BRANCH: 'main',
    QOVERY_APPLICATION_Z0190AAAA_GIT_COMMIT_ID: 'c1',
    QOVERY_APPLICATION_Z0191BBBB_HOST_INTERNAL: internalHost(two),
    QOVERY_APPLICATION_Z0191BBBB_NAME: two.name,
    QOVERY_APPLICATION_Z0191BBBB_ENVIRONMENT_NAME: 'staging',
    QOVERY_APPLICATION_Z0191BBBB_GIT_BRANCH: 'main',
    QOVERY_APPLICATION_Z0191BBBB_GIT_COMMIT_ID: '',
  })
})

test('an environment of this machine has its network and the domain of its public services', () => {
  const id = '0190dddd-0000-7000-8000-000000000005'
  const at = { ...environment, id, services: [] }
  const here = valuesOf({
    project,
    environment: { ...at, cluster: { ...at.cluster, hasEngine: true, domain: 'apps.test' } },
  })
  assert.partialDeepStrictEqual(here, {
    QOVERY_KUBERNETES_NAMESPACE_NAME: networkName(id),
    QOVERY_KUBERNETES_CLUSTER_DOMAIN: 'apps.test',
  })
  const elsewhere = valuesOf({
    project,
    environment: { ...at, cluster: { ...at.cluster, hasEngine: false, domain: 'apps.test' } },
  })
  const names = Object.keys(elsewhere).filter((key) => /NAMESPACE|DOMAIN/.test(key))
  assert.deepEqual(names, [])
})

test('a service sees the environment and itself', () => {
  const values = valuesOf({ project, environment, service: { ...two, deployment: 'd', commit: 'c2' } })
  assert.partialDeepStrictEqual(values, {
    QOVERY_ENVIRONMENT_ID: 'e',
    QOVERY_APPLICATION_ID: two.id,
    QOVERY_APPLICATION_NAME: two.name,
    QOVERY_SERVICE_ID: two.id,
    QOVERY_SERVICE_TYPE: 'APPLICATION',
    QOVERY_DEPLOYMENT_ID: 'd',
    QOVERY_COMMIT_ID: 'c2',
    QOVERY_APPLICATION_Z0190AAAA_HOST_INTERNAL: internalHost(one),
  })
})

test('ids are stable and unique', () => {
  const builtIns = builtInsOf({ project, environment, service: one })
  assert.equal(new Set(builtIns.map(({ id }) => id)).size, builtIns.length)
  assert.deepEqual(builtInsOf({ project, environment, service: one }), builtIns)
  const inProject = builtInsOf({ project }).map(({ id }) => id)
  assert.ok(inProject.every((id) => builtIns.some((builtIn) => builtIn.id === id)))
})

test('a database of every type has its addresses, and its password as a secret', () => {
  const database = { login: 'root', password: new Secret('p/w'), databaseName: 'shop', port: 5432 }
  const reached: Record<string, string> = {
    POSTGRESQL: 'postgresql://root:p%2Fw@HOST:5432/shop',
    MYSQL: 'mysql://root:p%2Fw@HOST:5432/shop',
    MONGODB: 'mongodb://root:p%2Fw@HOST:5432/shop?authSource=admin',
    REDIS: 'redis://root:p%2Fw@HOST:5432/shop',
  }
  for (const [type, url] of Object.entries(reached)) {
    const one = service('0190cccc-0000-4000-8000-000000000004', {
      kind: 'database',
      database: { ...database, type, publicAddress: { host: 'outside', port: 30_001 } },
    })
    const values = valuesOf({ project, environment: { ...environment, services: [one] } })
    const own = Object.entries(values).filter(([key]) => key.includes('_Z'))
    assert.deepEqual(Object.fromEntries(own), {
      [`QOVERY_${type}_Z0190CCCC_HOST`]: 'outside',
      [`QOVERY_${type}_Z0190CCCC_HOST_INTERNAL`]: internalHost(one),
      [`QOVERY_${type}_Z0190CCCC_PORT`]: '5432',
      [`QOVERY_${type}_Z0190CCCC_HOST_EXTERNAL`]: 'outside',
      [`QOVERY_${type}_Z0190CCCC_PORT_EXTERNAL`]: '30001',
      [`QOVERY_${type}_Z0190CCCC_LOGIN`]: 'root',
      [`QOVERY_${type}_Z0190CCCC_PASSWORD`]: 'secret p/w',
      [`QOVERY_${type}_Z0190CCCC_DEFAULT_DATABASE_NAME`]: 'shop',
      [`QOVERY_${type}_Z0190CCCC_DATABASE_URL`]: `secret ${url.replace('HOST:5432', 'outside:30001')}`,
      [`QOVERY_${type}_Z0190CCCC_DATABASE_URL_INTERNAL`]: `secret ${url.replace('HOST', internalHost(one))}`,
    })
  }
})

test('jobs and Terraform stacks have only their outputs', () => {
  const outputs = [
    { key: 'URL', isSecret: false, value: 'https://x' },
    { key: 'TOKEN', isSecret: true },
  ]
  const services = (['job', 'terraform'] as const).map((kind, index) =>
    service(`0190ddd${index}-0000-4000-8000-000000000005`, { kind, outputs }),
  )
  const values = valuesOf({ project, environment: { ...environment, services } })
  assert.deepEqual(Object.fromEntries(Object.entries(values).filter(([key]) => key.includes('_Z'))), {
    QOVERY_OUTPUT_JOB_Z0190DDD0_URL: 'https://x',
    QOVERY_OUTPUT_JOB_Z0190DDD0_TOKEN: 'secret ',
    QOVERY_OUTPUT_TERRAFORM_Z0190DDD1_URL: 'https://x',
    QOVERY_OUTPUT_TERRAFORM_Z0190DDD1_TOKEN: 'secret ',
  })
})

test('containers and charts are announced like applications, with their running version', () => {
  for (const kind of ['container', 'helm']) {
    const { branch: _, ...rest } = service('0190eeee-0000-4000-8000-000000000006', { kind, version: '1.27' })
    const values = valuesOf({ project, environment: { ...environment, services: [rest] }, service: rest })
    const word = kind.toUpperCase()
    assert.equal(values[`QOVERY_${word}_Z0190EEEE_HOST_INTERNAL`], internalHost(rest))
    assert.equal(values[`QOVERY_${word}_Z0190EEEE_GIT_BRANCH`], undefined)
    assert.equal(values['QOVERY_SERVICE_VERSION'], '1.27')
    assert.equal(values['QOVERY_COMMIT_ID'], undefined)
    assert.equal(values['QOVERY_CONTAINER_ID'], kind === 'container' ? rest.id : undefined)
  }
})

test('services with equal first digits never share a name', () => {
  const twin = service('0190aaaa-1111-7000-8000-000000000003', { externalHost: 'twin.localhost' })
  const { externalHost: _, ...older } = one
  const values = valuesOf({ project, environment: { ...environment, services: [older, twin] } })
  assert.equal(values['QOVERY_APPLICATION_Z0190AAAA_HOST_INTERNAL'], internalHost(one))
  assert.equal(values['QOVERY_APPLICATION_Z0190AAAA_HOST_EXTERNAL'], undefined)
  assert.equal(values['QOVERY_APPLICATION_Z0190AAAA111170008000000000000003_HOST_EXTERNAL'], 'twin.localhost')
  assert.notEqual(internalHost(one), internalHost(twin))
})

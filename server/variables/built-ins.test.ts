import assert from 'node:assert/strict'
import { test } from 'node:test'
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
  cluster: { name: 'built-in', cloud_provider: 'ON_PREMISE', region: 'local' },
  services: [one, two],
}
const valuesOf = (facts: BuiltInFacts): Record<string, string> =>
  Object.fromEntries(builtInsOf(facts).map(({ key, value }) => [key, value]))

test('a project has its id only', () => {
  assert.deepEqual(valuesOf({ project }), { QOVERY_PROJECT_ID: 'p' })
})

test('an environment tells of itself, its cluster and every announced service', () => {
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

test('ids stay the same and are all different', () => {
  const builtIns = builtInsOf({ project, environment, service: one })
  assert.equal(new Set(builtIns.map(({ id }) => id)).size, builtIns.length)
  assert.deepEqual(builtInsOf({ project, environment, service: one }), builtIns)
  const inProject = builtInsOf({ project }).map(({ id }) => id)
  assert.ok(inProject.every((id) => builtIns.some((builtIn) => builtIn.id === id)))
})

test('databases and jobs are not announced', () => {
  const services = [service('0190cccc', { kind: 'database' }), service('0190dddd', { kind: 'job' })]
  const keys = Object.keys(valuesOf({ project, environment: { ...environment, services } }))
  assert.equal(
    keys.some((key) => key.includes('_Z')),
    false,
  )
})

test('services whose ids begin alike never share a name', () => {
  const twin = service('0190aaaa-1111-7000-8000-000000000003', { externalHost: 'twin.localhost' })
  const { externalHost: _, ...older } = one
  const values = valuesOf({ project, environment: { ...environment, services: [older, twin] } })
  assert.equal(values['QOVERY_APPLICATION_Z0190AAAA_HOST_INTERNAL'], internalHost(one))
  assert.equal(values['QOVERY_APPLICATION_Z0190AAAA_HOST_EXTERNAL'], undefined)
  assert.equal(values['QOVERY_APPLICATION_Z0190AAAA111170008000000000000003_HOST_EXTERNAL'], 'twin.localhost')
  assert.notEqual(internalHost(one), internalHost(twin))
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changedNames, type PlanFacts, planService, type Version } from './plan-deployment.ts'

const repository = { url: 'https://git.example/shop.git', branch: 'main', root_path: '/', git_token_id: null }
const settings = {
  git_repository: repository,
  dockerfile_path: null,
  docker_target_build_stage: null,
  cpu: 100,
  ports: [{ internal_port: 80 }],
  icon_uri: 'a',
}
const version = (
  change: object = {},
  variables: Readonly<Record<string, string>> = { KEY: 'a' },
  advanced: object = {},
): Version => ({
  kind: 'application',
  settings: { ...settings, ...change },
  advanced,
  variables: new Map(Object.entries(variables)),
})
const plan = (wanted: Version, running: Version | undefined = version(), change: Partial<PlanFacts> = {}) =>
  planService({ id: 'id', name: 'shop', wanted, running, skipped: undefined, ...change })

test('nothing differs: nothing has to be made anew', () => {
  assert.deepEqual(plan(version()), {
    service_id: 'id', service_type: 'APPLICATION', name: 'shop', effect: 'NOTHING', is_first_deployment: false,
    changed_settings: [], changed_variables: [], branch: 'main', skipped: null,
  })
}) // biome-ignore format: one record

test('another source, recipe or limit of builds is built, other settings and variables need a restart', () => {
  const effect = (wanted: Version) => [plan(wanted).effect, ...plan(wanted).changed_settings, ...plan(wanted).changed_variables]
  assert.deepEqual(effect(version({ git_repository: { ...repository, branch: 'next' } })), ['REBUILD', 'git_repository.branch'])
  assert.deepEqual(effect(version({ dockerfile_path: 'Dockerfile.web' })), ['REBUILD', 'dockerfile_path'])
  assert.deepEqual(effect(version({}, { KEY: 'a' }, { 'build.ram_max_in_gib': 4 })), ['REBUILD', 'build.ram_max_in_gib'])
  assert.deepEqual(effect(version({ cpu: 200, ports: [] })), ['RESTART', 'cpu', 'ports'])
  assert.deepEqual(effect(version({}, { KEY: 'b', NEW: 'c' })), ['RESTART', 'KEY', 'NEW'])
  assert.deepEqual(effect(version({}, {})), ['RESTART', 'KEY'])
  assert.deepEqual(effect(version({}, { KEY: 'a', QOVERY_APPLICATION_Z1_GIT_COMMIT_ID: 'c' })), ['NOTHING'])
  assert.deepEqual(effect(version({ icon_uri: 'b' })), ['NOTHING', 'icon_uri'])
}) // biome-ignore format: long rows

test('what never ran is deployed for the first time; what is not built is not rebuilt', () => {
  const first = planService({ id: 'id', name: 'shop', wanted: version(), running: undefined, skipped: 'no' })
  assert.deepEqual([first.effect, first.is_first_deployment, first.changed_settings, first.skipped], ['REBUILD', true, [], 'no'])
  const container = (tag: string): Version => ({ ...version(), kind: 'container', settings: { image_name: 'shop', tag } })
  assert.deepEqual([plan(container('2'), container('1')).effect, plan(container('2'), container('1')).branch], ['RESTART', null])
}) // biome-ignore format: long rows

test('members are compared whatever their order, and absent is the same as null', () => {
  assert.deepEqual(
    changedNames({ a: { x: 1, y: [{ p: 1, q: 2 }] }, b: null }, { a: { y: [{ q: 2, p: 1 }], x: 1 } }),
    [],
  )
  assert.deepEqual(changedNames({ a: { x: 1 }, b: 1 }, { a: 'text', c: false }), ['a', 'b', 'c'])
})

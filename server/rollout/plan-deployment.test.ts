import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type PlanFacts, planService, type Version } from './plan-deployment.ts'

const repository = { url: 'https://git.example/shop.git', branch: 'main', root_path: '/', git_token_id: null }
const settings = {
  git_repository: repository,
  dockerfile_path: null,
  docker_target_build_stage: null,
  cpu: 100,
  ports: [{ internal_port: 80 }],
  icon_uri: 'a',
}
const version = (change: object = {}, advanced: object = {}): Version => ({
  kind: 'application',
  settings: { ...settings, ...change },
  advanced,
  image: undefined,
})
const plan = (wanted: Version, change: Partial<PlanFacts> = {}) =>
  planService({
    id: 'id',
    name: 'shop',
    wanted,
    running: version(),
    changes: [],
    values: [],
    runningCommit: 'abc',
    isHealthy: true,
    wasDeployed: true,
    skipped: undefined,
    twin: undefined,
    isRollback: false,
    ...change,
  })

test('planService keeps the running version when nothing differs and the branch has no newer commit', () => {
  assert.deepEqual(plan(version()), {
    service_id: 'id',
    service_type: 'APPLICATION',
    name: 'shop',
    effect: 'KEEP',
    reasons: ['Nothing changed.', 'A newer commit of branch "main" would be built and started.'],
    is_first_deployment: false,
    changed_settings: [],
    changed_variables: [],
    changed_values: [],
    running_commit: 'abc',
    branch: 'main',
    skipped: null,
  })
})

test('planService says how the changes of a chart are shown', () => {
  const source = { git_repository: repository }
  const chart: Version = { kind: 'helm', settings: { source, ports: [] }, advanced: {}, image: undefined }
  const { effect, reasons, branch } = plan(chart, { running: chart })
  assert.deepEqual([effect, branch], ['KEEP', 'main'])
  assert.match(reasons.join(' '), /A newer commit of branch "main" would be installed\. .*forceEvent=DIFF/)
})

test('planService plans a build for another source, recipe or build limit', () => {
  const effect = (wanted: Version) => [plan(wanted).effect, ...plan(wanted).changed_settings]
  assert.deepEqual(effect(version({ git_repository: { ...repository, branch: 'next' } })), [
    'REBUILD',
    'git_repository.branch',
  ])
  assert.deepEqual(effect(version({ dockerfile_path: 'Dockerfile.web' })), ['REBUILD', 'dockerfile_path'])
  assert.deepEqual(effect(version({}, { 'build.ram_max_in_gib': 4 })), ['REBUILD', 'build.ram_max_in_gib'])
  assert.deepEqual(effect(version({ icon_uri: 'b' })), ['KEEP', 'icon_uri'])
})

test('a build secret that changed is built, and a changed variable is where the Dockerfile declares it', () => {
  const advanced = { 'build.secrets': ['TOKEN'] }
  const withSecret = { running: version({}, advanced), changes: ['variable TOKEN', 'variable KEY'] }
  const built = plan(version({}, advanced), withSecret)
  assert.deepEqual([built.effect, built.reasons], ['REBUILD', ['Secrets that its build may read have changed: TOKEN.']])
  const changed = plan(version(), { changes: ['variable KEY'] })
  assert.deepEqual(
    [changed.effect, changed.reasons],
    [
      'RESTART',
      [
        'Changed since the running version: variable KEY.',
        'If the Dockerfile declares one of the changed variables as ARG, the image is built again.',
      ],
    ],
  )
  assert.equal(plan(version(), { changes: ['cpuMilli'] }).reasons.length, 1)
  const image: Version = { ...version(), kind: 'container', settings: {}, image: 'shop:1' }
  assert.equal(plan(image, { running: image, changes: ['variable KEY'] }).reasons.length, 1)
})

test('going back builds nothing, whatever the version was built from', () => {
  const former = version({ dockerfile_path: 'Dockerfile.web' })
  const back = plan(former, { isRollback: true, changes: ['image', 'variable KEY'] })
  assert.deepEqual(
    [back.effect, back.branch, back.reasons],
    ['RESTART', null, ['Changed since the running version: image, variable KEY.']],
  )
  const same = plan(former, { isRollback: true })
  assert.deepEqual([same.effect, same.reasons], ['KEEP', ['Nothing changed.']])
})

test('planService runs the start command of a job each time, and keeps an unchanged cron job', () => {
  const job = (schedule: object): Version => ({
    kind: 'job',
    settings: { source: { image: {} }, schedule },
    advanced: {},
    image: 'job:1',
  })
  const effect = (schedule: object, change: Partial<PlanFacts> = {}) => {
    const planned = plan(job(schedule), { running: job(schedule), ...change })
    return [planned.effect, ...planned.reasons]
  }
  const run = { arguments: [] }
  const cron = { cronjob: { ...run, scheduled_at: '0 4 * * *', timezone: 'Etc/UTC' } }
  assert.deepEqual(effect({ on_start: run }), ['RESTART', 'The start command of a job runs at each deployment.'])
  for (const schedule of [cron, { on_delete: run }]) {
    assert.deepEqual(effect(schedule), [
      'KEEP',
      'Nothing changed.',
      'Another image that is named job:1 by then would be taken.',
    ])
  }
  const changes = ['variable KEY']
  assert.deepEqual(effect(cron, { changes }), ['RESTART', 'Changed since the running version: variable KEY.'])
})

test('planService restarts a changed workload and an unhealthy one', () => {
  const changed = plan(version({ cpu: 200 }), { changes: ['cpuMilli', 'variable KEY', 'file /etc/app.conf'] })
  assert.deepEqual(
    [changed.effect, changed.changed_settings, changed.changed_variables],
    ['RESTART', ['cpu'], ['/etc/app.conf', 'KEY']],
  )
  assert.match(changed.reasons.join(), /cpuMilli, variable KEY/)
  assert.deepEqual(plan(version(), { isHealthy: false }).effect, 'RESTART')
  const image = (name: string): Version => ({ ...version(), kind: 'container', settings: {}, image: name })
  const retagged = plan(image('shop:2'), { running: image('shop:1') })
  assert.deepEqual(
    [retagged.effect, retagged.branch, retagged.reasons],
    ['RESTART', null, ['Changed since the running version: image shop:2.']],
  )
  assert.deepEqual(plan(image('shop:1'), { running: image('shop:1') }).effect, 'KEEP')
})

test('planService starts stopped services, for the first time or again, and skips with the reason those that cannot run', () => {
  const first = plan(version(), { running: undefined, wasDeployed: false })
  assert.deepEqual([first.effect, first.is_first_deployment, first.changed_settings], ['FIRST_START', true, []])
  assert.deepEqual(plan(version(), { running: undefined }).effect, 'START')
  const copied = plan(version(), { running: undefined, wasDeployed: false, twin: 'application "shop"' })
  assert.match(copied.reasons[1] ?? '', /those of application "shop", its image is used and nothing is built/)
  const skipped = plan(version(), { running: undefined, wasDeployed: false, skipped: 'It cannot.' })
  assert.deepEqual([skipped.effect, skipped.reasons, skipped.skipped], ['SKIP', ['It cannot.'], 'It cannot.'])
})

test('the values of settings, images and variables are listed, and long ones are cut', () => {
  const values = [
    { kind: 'VARIABLE', name: 'KEY', before: 'old', after: 'x'.repeat(3_000), is_secret: false },
    { kind: 'VARIABLE', name: 'TOKEN', before: null, after: null, is_secret: true },
  ] as const
  const next = version({ git_repository: { ...repository, branch: 'next' } }, { 'build.ram_max_in_gib': 4 })
  const [branch, memory, key, token] = plan(next, { values }).changed_values
  assert.deepEqual(branch, {
    kind: 'SETTING',
    name: 'git_repository.branch',
    before: 'main',
    after: 'next',
    is_secret: false,
  })
  assert.deepEqual([memory?.name, memory?.before, memory?.after], ['build.ram_max_in_gib', null, '4'])
  assert.match(String(key?.after), /^x{2000} … \(3000 characters\)$/)
  assert.deepEqual(token, values[1])
  const image = (name: string): Version => ({ ...version(), kind: 'container', settings: {}, image: name })
  assert.deepEqual(plan(image('shop:2'), { running: image('shop:1') }).changed_values, [
    { kind: 'IMAGE', name: 'image', before: 'shop:1', after: 'shop:2', is_secret: false },
  ])
})

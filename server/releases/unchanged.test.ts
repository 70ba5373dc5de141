import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeWorkload } from '../engines/fake/fake-workload.ts'
import { Secret } from '../lib/secret.ts'
import type { ApplicationSettings } from '../services/index.ts'
import { startDeadlineSeconds, toWorkload } from './to-workload.ts'
import { changesOf, type ReleaseContent } from './unchanged.ts'

const probe = {
  type: { tcp: null, http: { path: '/', scheme: 'HTTP', port: 80 }, exec: null, grpc: null },
  initial_delay_seconds: 1,
  period_seconds: 2,
  timeout_seconds: 3,
  success_threshold: 1,
  failure_threshold: 5,
} as const
const settings: ApplicationSettings = {
  git_repository: { url: 'https://github.com/a/b', provider: 'GITHUB', root_path: '/', git_token_id: null },
  build_mode: 'DOCKER',
  dockerfile_path: 'Dockerfile',
  docker_target_build_stage: null,
  cpu: 250,
  memory: 128,
  gpu: 0,
  ephemeral_storage_in_gib: 2,
  cpu_architecture: 'AMD64',
  min_running_instances: 2,
  max_running_instances: 3,
  healthchecks: { readiness_probe: probe, liveness_probe: probe },
  auto_preview: false,
  auto_deploy: false,
  arguments: ['--a'],
  entrypoint: '/start',
  icon_uri: 'app://icon',
  ports: [{ id: 'p', name: 'web', internal_port: 80, publicly_accessible: true, is_default: true, protocol: 'HTTP' }],
  storage: [{ id: 's', type: 'FAST_SSD', size: 2, mount_point: '/data' }],
}

const workloadOf = (changed: ApplicationSettings, more = {}) => {
  const versioned = { kind: 'application', settings: changed } as const
  const input = {
    service: 'a',
    image: 'tag',
    variables: {},
    files: [],
    aliases: [],
    stopGraceSeconds: 10,
    labels: {},
    layerGiB: 10,
  }
  return toWorkload(versioned, { ...input, startDeadlineSeconds: startDeadlineSeconds(versioned), ...more })
}
const contentOf = (changed = settings, more = {}): ReleaseContent => ({
  workload: workloadOf(changed, more),
  digest: 'sha256:1',
  passwordsIn: '',
})

type Path = readonly (string | number)[]
/** Returns the path of every value inside. */
function leaves(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([name, inner]) => leaves(inner, [...path, name]))
}
/** Returns a copy with another value at that path. */
function changed(value: unknown, [name, ...rest]: Path): unknown {
  if (name === undefined) return other(value)
  const members = Object.entries(Object(value)).map(([key, inner]) => [
    key,
    key === name ? changed(inner, rest) : inner,
  ])
  return Array.isArray(value) ? members.map(([, inner]) => inner) : Object.fromEntries(members)
}
function other(value: unknown): unknown {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  if (value === null) return 'now there is something'
  return value === 'HTTP' ? 'TCP' : `${value} and more`
}

/**
 * Settings that do not affect a program: inputs of the build, settings of the router, labels for
 * people, and settings without an effect.
 */
const unfelt =
  /^(?:git_repository|build_mode|dockerfile_path|docker_target|gpu|cpu_architecture|auto_|icon_uri|ports\.0\.(?:id|publicly|is_default)|storage\.0\.type|healthchecks\.\w+\.type\.(?:tcp|exec|grpc))/

test('changesOf reports every changed setting that reaches the workload, and no other', () => {
  for (const path of leaves(settings)) {
    const name = path.join('.')
    // A value of the right type, though the API might reject it.
    const next = changed(settings, path) as ApplicationSettings
    if (/\.type\.(?:tcp|exec|grpc)$/.test(name)) continue
    assert.equal(changesOf(contentOf(), contentOf(next)).length > 0, !unfelt.test(name), name)
  }
})

test('changesOf reports nothing when only the order differs', () => {
  const turned = Object.fromEntries(Object.entries(settings).reverse()) as unknown as ApplicationSettings
  assert.deepEqual(changesOf(contentOf(), contentOf(turned)), [])
})

test('changesOf compares every member of a workload, including ones added later', () => {
  const workload = fakeWorkload('image')
  const same = { digest: 'd', passwordsIn: '' }
  for (const name of Object.keys(workload)) {
    if (['image', 'variables', 'files'].includes(name)) continue
    const next = { workload: { ...workload, [name]: 'other' }, ...same }
    assert.deepEqual(changesOf({ workload, ...same }, next), [name])
  }
  const added = { workload: { ...workload, later: { secret: new Secret('a') } }, ...same }
  assert.deepEqual(changesOf({ workload, ...same }, added), ['later'])
  const others = { workload: { ...workload, later: { secret: new Secret('b') } }, ...same }
  assert.deepEqual(changesOf(added, others), ['later'])
})

test('changesOf compares images by content, and unknown content is never equal', () => {
  const { workload } = contentOf()
  const of = (digest: string, image = workload.image) => ({ workload: { ...workload, image }, digest, passwordsIn: '' })
  assert.deepEqual(changesOf(of('d'), of('d', 'other')), [])
  assert.deepEqual(changesOf(of('d'), of('e')), ['image'])
  assert.deepEqual(changesOf(of(''), of('')), ['image'])
})

test('changesOf compares values as the program reads them, and reports only their names', () => {
  const of = (variables: object, files: object[] = []) => contentOf(settings, { variables, files })
  const before = of({ A: '1', B: new Secret('2'), C: '3' }, [{ path: '/f', content: 'c' }])
  const after = of({ A: new Secret('1'), B: new Secret('9'), D: '4' }, [{ path: '/f', content: new Secret('d') }])
  assert.deepEqual(changesOf(before, before), [])
  assert.deepEqual(changesOf(before, after), ['variable B', 'variable C', 'variable D', 'file /f'])
})

test('changesOf ignores values that differ with each deployment, including inside other values', () => {
  const of = (id: string, commit: string) => {
    const variables = {
      QOVERY_DEPLOYMENT_ID: id,
      QOVERY_APPLICATION_Z0190ABCD_GIT_COMMIT_ID: commit,
      RUN: `run-${id}`,
    }
    return contentOf(settings, { variables, files: [{ path: '/f', content: new Secret(`id=${id}`) }] })
  }
  assert.deepEqual(changesOf(of('0190-1', 'a'), of('0190-2', 'b')), [])
  const own = (commit: string) => contentOf(settings, { variables: { QOVERY_COMMIT_ID: commit } })
  assert.deepEqual(changesOf(own('a'), own('b')), ['variable QOVERY_COMMIT_ID'])
})

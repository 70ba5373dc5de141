import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toTask } from '../rollout/job-release.ts'
import type { ApplicationSettings, SettingsOf } from '../services/index.ts'
import { startDeadlineSeconds, toWorkload } from './to-workload.ts'

const settings: ApplicationSettings = {
  git_repository: { url: 'https://github.com/a/b', provider: 'GITHUB', root_path: '/', git_token_id: null },
  build_mode: 'DOCKER',
  dockerfile_path: null,
  docker_target_build_stage: null,
  cpu: 250,
  memory: 128,
  gpu: 0,
  cpu_architecture: null,
  min_running_instances: 2,
  max_running_instances: 3,
  healthchecks: {},
  auto_preview: false,
  auto_deploy: false,
  arguments: ['--a', '$B'],
  icon_uri: 'app://icon',
  ports: [{ id: 'p', name: 'web', internal_port: 80, publicly_accessible: true, is_default: true, protocol: 'HTTP' }],
  storage: [{ id: 's', type: 'FAST_SSD', size: 2, mount_point: '/data' }],
}
const workloadOf = (change: Partial<ApplicationSettings> = {}, scale: number | null = null) =>
  toWorkload(
    { kind: 'application', settings: { ...settings, ...change } },
    {
      service: 'a',
      image: 'image@sha256:1',
      variables: { A: '1' },
      files: [{ path: '/f', content: 'c' }],
      aliases: ['shop'],
      startDeadlineSeconds: 60,
      stopGraceSeconds: 10,
      labels: { team: 'shop' },
      layerGiB: 10,
      scale,
    },
  )
const timing = {
  initial_delay_seconds: 1,
  period_seconds: 2,
  timeout_seconds: 3,
  success_threshold: 1,
  failure_threshold: 5,
}
type Probe = NonNullable<ApplicationSettings['healthchecks']['readiness_probe']>
const probeOf = (type: Probe['type']) => {
  const workload = workloadOf({ healthchecks: { readiness_probe: { type, ...timing } } })
  return workload.probes.readiness
}

test('toWorkload converts settings to plain data for an engine', () => {
  assert.deepEqual(workloadOf(), {
    shape: 'long-running',
    image: 'image@sha256:1',
    variables: { A: '1' },
    files: [{ path: '/f', content: 'c' }],
    aliases: ['shop'],
    startDeadlineSeconds: 60,
    arguments: ['--a', '$B'],
    replicas: { min: 2, max: 3 },
    cpuMilli: 250,
    memoryMiB: 128,
    layerGiB: 10,
    ports: [{ name: 'web', internalPort: 80, protocol: 'HTTP' }],
    probes: {},
    storage: [{ id: 's', mountPoint: '/data', sizeGiB: 2 }],
    stopGraceSeconds: 10,
    labels: { team: 'shop' },
  })
})

const bare = { image: 'i', variables: {}, files: [], aliases: [], labels: {} }

test('the writable layer of a replica or run has the limit of its service, or that of the platform', () => {
  const limitOf = (gib?: number) => workloadOf(gib === undefined ? {} : { ephemeral_storage_in_gib: gib }).layerGiB
  assert.deepEqual([limitOf(), limitOf(0), limitOf(3)], [10, 10, 3])
  const input = { ...bare, annotations: {}, stopGraceSeconds: 10, layerGiB: 10 }
  const job = { cpu: 1, memory: 1, max_duration_seconds: 0, schedule: { on_start: { arguments: [] } } }
  const limitOfRun = (settings: object) =>
    toTask({ ...job, ...settings } as unknown as SettingsOf['job'], 'START', input).layerGiB
  assert.deepEqual([{}, { ephemeral_storage_in_gib: 0 }, { ephemeral_storage_in_gib: 3 }].map(limitOfRun), [10, 10, 3])
})

test('a workload names the use at which its number of replicas is right only if that number may change', () => {
  const targets = { cpuPercent: 60 }
  const input = { ...bare, service: 'a', layerGiB: 10 }
  const of = (min: number, max: number) =>
    toWorkload(
      { kind: 'application', settings: { ...settings, min_running_instances: min, max_running_instances: max } },
      { ...input, startDeadlineSeconds: 60, stopGraceSeconds: 10, targets },
    ).targets
  assert.deepEqual([of(1, 3), of(0, 2), of(2, -1)], [targets, targets, targets])
  assert.deepEqual([of(2, 2), of(0, 1)], [undefined, undefined])
})

test('an entry point is one program, not a shell command', () => {
  assert.deepEqual(workloadOf({ entrypoint: '/bin/sh -c x' }).entrypoint, ['/bin/sh -c x'])
  assert.equal('entrypoint' in workloadOf({ entrypoint: '' }), false)
})

test('at least one replica runs, and the maximum is never below the minimum', () => {
  const replicas = (min: number, max: number) =>
    workloadOf({ min_running_instances: min, max_running_instances: max }).replicas
  assert.deepEqual(replicas(0, 1), { min: 1, max: 1 })
  assert.deepEqual(replicas(3, -1), { min: 3, max: 100 })
  assert.deepEqual(replicas(1, 4), { min: 1, max: 4 })
})

test('a workload starts with its scaled number of replicas within the settings, and with one if it sleeps', () => {
  const settings = { min_running_instances: 0, max_running_instances: 4 }
  const replicas = (scale: number | null) => workloadOf(settings, scale).replicas.min
  assert.deepEqual([0, null, 3, 9].map(replicas), [1, 1, 3, 4])
})

test('memory is never less than a container needs to start', () => {
  assert.equal(workloadOf({ memory: 1 }).memoryMiB, 16)
})

test('each kind of probe becomes its check', () => {
  assert.deepEqual(probeOf({ tcp: { port: 5432 } })?.check, { type: 'tcp', port: 5432 })
  const http = { path: '/health', scheme: 'HTTPS' as const, port: 443 }
  assert.deepEqual(probeOf({ http, tcp: null })?.check, { type: 'http', ...http })
  assert.deepEqual(probeOf({ exec: { command: ['true', ';x'] } })?.check, { type: 'exec', command: ['true', ';x'] })
  assert.deepEqual(probeOf({ grpc: { port: 9, service: null } })?.check, { type: 'grpc', port: 9, service: '' })
  assert.deepEqual(probeOf({ tcp: { port: 1 } }), {
    check: { type: 'tcp', port: 1 },
    initialDelaySeconds: 1,
    periodSeconds: 2,
    timeoutSeconds: 3,
    successThreshold: 1,
    failureThreshold: 5,
  })
})

test('a probe without a kind is ignored', () => {
  assert.equal(probeOf({}), undefined)
  assert.deepEqual(workloadOf({ healthchecks: { readiness_probe: null, liveness_probe: null } }).probes, {})
})

test('the start deadline is what the readiness probe allows, between a minute and an hour', () => {
  const deadline = (change: Partial<Probe>) =>
    startDeadlineSeconds({
      kind: 'application',
      settings: {
        ...settings,
        healthchecks: { readiness_probe: { type: { tcp: { port: 1 } }, ...timing, ...change } },
      },
    })
  assert.equal(startDeadlineSeconds({ kind: 'application', settings }), 60)
  assert.equal(deadline({}), 60)
  assert.equal(deadline({ initial_delay_seconds: 100, failure_threshold: 10 }), 130)
  assert.equal(deadline({ period_seconds: 10, failure_threshold: 20 }), 201)
  assert.equal(deadline({ period_seconds: 3600, failure_threshold: 1000 }), 3600)
})

test('a run of a timetable has the annotations of cron jobs, and other runs have the ones of jobs', () => {
  const annotations = { PODS: { a: 'pod' }, JOBS: { a: 'job' }, CRON_JOBS: { a: 'cron' } }
  const input = { ...bare, annotations, stopGraceSeconds: 10, layerGiB: 10 }
  const run = { arguments: [] }
  const job = { cpu: 1, memory: 1, max_duration_seconds: 0, schedule: { on_start: run, cronjob: run } }
  const of = (event: 'START' | 'CRON') => toTask(job as unknown as SettingsOf['job'], event, input).annotations
  assert.deepEqual(of('START'), { PODS: { a: 'pod' }, JOBS: { a: 'job' } })
  assert.deepEqual(of('CRON'), { PODS: { a: 'pod' }, JOBS: { a: 'cron' } })
})

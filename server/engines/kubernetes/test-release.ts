import type { LongRunning, Release, Task } from '../engine.ts'

/** Returns a release for tests of pure functions, with these settings. */
export const testRelease = (workload: Partial<LongRunning> = {}): Release => ({
  id: '01a20b53-0000-7002-849b-000000000001',
  service: '01a20b53-0000-7002-849b-000000000002',
  environment: '01a20b53-0000-7002-849b-000000000003',
  displayName: 'shop; $(touch x)',
  workload: {
    shape: 'long-running',
    image: 'registry.example/web@sha256:0',
    arguments: [],
    variables: {},
    files: [],
    replicas: { min: 2, max: 4 },
    cpuMilli: 250,
    memoryMiB: 64,
    aliases: ['shop'],
    ports: [{ name: 'a name of more than fifteen characters', internalPort: 8080, protocol: 'HTTP' }],
    probes: {},
    storage: [],
    stopGraceSeconds: 10,
    startDeadlineSeconds: 60,
    ...workload,
  },
})

/** Returns a release of a program that ends, for tests of pure functions, with these settings. */
export const testTask = (workload: Partial<Task> = {}): Release<Task> => ({
  ...testRelease(),
  workload: {
    shape: 'task',
    image: 'registry.example/web@sha256:0',
    arguments: [],
    variables: {},
    files: [],
    cpuMilli: 250,
    memoryMiB: 64,
    aliases: [],
    timeoutSeconds: 60,
    stopGraceSeconds: 10,
    ...workload,
  },
})

import type { ReplicaState } from './replica-state.ts'

/** A running replica for tests of pure functions. */
export const sampleState = (changes: Partial<ReplicaState> = {}): ReplicaState => ({
  id: 'c1',
  name: 'replica-1',
  service: 's',
  environment: 'e',
  release: 'r1',
  replica: 1,
  replicas: 1,
  status: 'running',
  running: (changes.status ?? 'running') === 'running',
  exits: 0,
  exitCode: undefined,
  outOfMemory: false,
  pid: 4711,
  createdAt: '2026-01-01T00:00:00.000000000Z',
  startedAt: '2026-01-01T00:00:00.000000000Z',
  finishedAt: '0001-01-01T00:00:00Z',
  address: '172.18.0.2',
  ports: [8080],
  stopGraceSeconds: 10,
  cpuLimitMilli: 500,
  memoryLimitMiB: 64,
  restarts: true,
  labels: {},
  ...changes,
})

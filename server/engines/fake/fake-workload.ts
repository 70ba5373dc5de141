import type { LongRunning, Task } from '../engine.ts'

/**
 * A workload for tests with the fake engine: one replica with HTTP ports. The image's name selects
 * its behaviour.
 */
export const fakeWorkload = (image: string, ports: readonly number[] = [8080]): LongRunning => ({
  shape: 'long-running',
  image,
  arguments: [],
  variables: {},
  files: [],
  replicas: { min: 1, max: 1 },
  cpuMilli: 500,
  memoryMiB: 128,
  ports: ports.map((internalPort) => ({ name: `p${internalPort}`, internalPort, protocol: 'HTTP' })),
  probes: {},
  storage: [],
  aliases: [],
  stopGraceSeconds: 5,
  startDeadlineSeconds: 30,
})

/** A task for tests with the fake engine. */
export const fakeTask = (image: string): Task => ({
  shape: 'task',
  image,
  arguments: [],
  variables: {},
  files: [],
  cpuMilli: 500,
  memoryMiB: 128,
  aliases: [],
  stopGraceSeconds: 5,
  timeoutSeconds: 60,
})

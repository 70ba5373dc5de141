import { machine } from '../lib/machine.ts'
import type { ImageStore, LogSource, Observes, Reachable, Runner, TaskRunner, Terminals } from './engine.ts'
import { EngineError } from './engine-error.ts'

const nothing = async (): Promise<void> => {}
const refuse = async (): Promise<never> => {
  throw new EngineError('refused', 'this installation has no engine for this cluster')
}
const noReplica = async (): Promise<never> => {
  throw new EngineError('refused', 'no replica of the service is running; start it first')
}

/**
 * The engine of a cluster that is only a record. Nothing runs there, so stopping always succeeds
 * and starting always fails.
 */
export const noEngine: Reachable & Runner & Observes & TaskRunner & ImageStore & Terminals & LogSource = {
  capabilities: {
    description: 'a record',
    shapes: new Set(),
    settings: new Set(),
    images: 'shared',
    publishesPorts: false,
    scalesByLoad: false,
    events: 'cool-down',
    measuresDisk: false,
  },
  capacity: { ...machine, cpuMilli: 0, memoryMiB: 0 },
  ping: refuse,
  report: async () => undefined,
  listFindings: refuse,
  prepareEnvironment: refuse,
  start: refuse,
  retire: nothing,
  endReplicas: nothing,
  erase: nothing,
  eraseEnvironment: nothing,
  observe: async () => ({ state: 'absent' }),
  observeAll: async () => new Map(),
  usage: async () => [],
  machines: async () => [],
  prepareTask: refuse,
  runTask: refuse,
  stopTask: refuse,
  readTaskFile: refuse,
  freeTask: refuse,
  endTask: nothing,
  listTasks: async () => [],
  pinImage: refuse,
  fetchImage: refuse,
  exec: noReplica,
  shell: noReplica,
  connect: noReplica,
  async *logs() {},
}

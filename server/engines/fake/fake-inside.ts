import type { Duplex } from 'node:stream'
import { Secret } from '../../lib/secret.ts'
import {
  EngineError,
  type LogLine,
  type LogQuery,
  type LogSource,
  type MachineReport,
  type Observes,
  type ReplicaUsage,
  type ShellWish,
  type Terminal,
  type Terminals,
} from '../engine.ts'
import { thisMachine } from '../machine-report.ts'
import { fakeConnection, fakeTerminal } from './fake-shell.ts'
import { FakeStock } from './fake-stock.ts'

type Inside = LogSource & Terminals & Pick<Observes, 'usage' | 'machines'>

/**
 * The output and usage of replicas in memory, and what answers inside them: `exec` knows `printenv
 * NAME`, `cat PATH` and `exit CODE`.
 */
export class FakeInside extends FakeStock implements Inside {
  async *logs(service: string, query: LogQuery, signal: AbortSignal): AsyncGenerator<LogLine> {
    this.reach(signal)
    yield* this.output.logs(service, () => this.replicas.of(service), query, signal)
  }

  async exec(
    service: string,
    command: readonly string[],
    signal: AbortSignal,
  ): Promise<{ exitCode: number; output: string }> {
    this.reach(signal)
    const { variables, files } = this.replicas.running(service, undefined).workload
    const [program, argument = ''] = command
    const found = program === 'printenv' ? variables[argument] : files.find(({ path }) => path === argument)?.content
    if (program === 'exit') return { exitCode: Number(argument), output: '' }
    if (found === undefined) return { exitCode: 1, output: '' }
    return { exitCode: 0, output: found instanceof Secret ? found.reveal() : found }
  }

  async shell(service: string, wish: ShellWish, signal: AbortSignal): Promise<Terminal> {
    this.reach(signal)
    this.replicas.running(service, wish.replica)
    this.shells.push({ service, ...wish })
    return fakeTerminal(wish, signal)
  }

  async connect(service: string, port: number, replica: string | undefined, signal: AbortSignal): Promise<Duplex> {
    this.reach(signal)
    const { workload } = this.replicas.running(service, replica)
    if (workload.ports.some(({ internalPort }) => internalPort === port)) return fakeConnection(signal)
    throw new EngineError('unreachable', `nothing listens on port ${port} of the replica`)
  }

  async machines(signal: AbortSignal): Promise<MachineReport[]> {
    this.reach(signal)
    return [{ ...thisMachine(), pods: this.replicas.all.length }]
  }

  async usage(service: string, signal: AbortSignal): Promise<ReplicaUsage[]> {
    this.reach(signal)
    const { cpuMilli = 0, memoryMiB = 1 } = this.used.get(service) ?? {}
    return this.replicas
      .of(service)
      .filter(({ running }) => running)
      .map(({ name, workload }) => ({
        replica: name,
        cpuMilli,
        cpuLimitMilli: workload.cpuMilli,
        memoryMiB,
        memoryLimitMiB: workload.memoryMiB,
      }))
  }
}

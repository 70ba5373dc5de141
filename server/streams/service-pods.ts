import { databaseTable } from '@quayside/contract/services/database.ts'
import type { ServiceRow } from '../services/index.ts'
import { followChanges } from './follow-changes.ts'
import { listReplicaNames } from './running-store.ts'
import { serviceOf } from './stream-call.ts'
import type { Feed, StreamsOptions } from './streams.ts'

/** Sends the running replicas, again whenever they change. */
export function servicePods(options: Pick<StreamsOptions, 'database' | 'stateChanges' | 'clock'>): Feed {
  return async (call, outlet, signal) => {
    const service = serviceOf(call)
    const ports = portsOf(service)
    let told: string | undefined
    const concerns = ({ type, data }: { type: string; data: Readonly<Record<string, string>> }): boolean =>
      type === 'service.running' && data['service_id'] === service.id
    for await (const _ of followChanges(options, call.organizationId, concerns, signal)) {
      const names = await listReplicaNames(options.database, service.id)
      if (names.join() === told) continue
      told = names.join()
      await outlet.send({ pods: names.map((name) => ({ name, ports })) })
    }
  }
}

/** The ports on which it listens, from its settings. */
function portsOf({ settings }: ServiceRow): number[] {
  if ('ports' in settings && Array.isArray(settings.ports)) {
    return settings.ports.map(({ internal_port }: { internal_port: number }) => internal_port)
  }
  return 'type' in settings && settings.type in databaseTable ? [databaseTable[settings.type].port] : []
}

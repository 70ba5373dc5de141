import type { Clock } from '../../lib/clock.ts'
import type { SocketHttp } from '../../lib/socket-http.ts'
import { createStepPorts, type StepPorts } from './step-ports.ts'

/** Creates StepPorts on the default bridge of a Docker Engine. */
export const createBridgePorts = (docker: SocketHttp, clock: Clock): StepPorts =>
  createStepPorts({
    clock,
    bridge: async () => {
      const signal = AbortSignal.timeout(60_000)
      const found = (await docker.json({ method: 'GET', path: '/networks/bridge', signal })) as {
        Options?: Readonly<Record<string, string>>
        Containers?: Readonly<Record<string, { readonly MacAddress: string; readonly IPv4Address: string }>>
      }
      const members = Object.values(found.Containers ?? {})
      return {
        name: found.Options?.['com.docker.network.bridge.name'] ?? 'docker0',
        macs: new Map(members.map(({ IPv4Address, MacAddress }) => [IPv4Address.split('/')[0] ?? '', MacAddress])),
      }
    },
  })

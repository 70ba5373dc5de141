import type { Clock } from '../../lib/clock.ts'
import type { SocketHttp } from '../../lib/socket-http.ts'
import { createBridgePorts } from './bridge-ports.ts'
import type { DiskFloor } from './disk-floor.ts'
import type { DockerBuilderOptions } from './docker-builder.ts'
import { createStepLimits, type StepLimits } from './step-limits.ts'

/** The engine and its limits, read once. */
export interface EngineFacts {
  readonly docker: SocketHttp
  readonly clock: Clock
  readonly limits: StepLimits
  readonly floor: DiskFloor
  readonly network: 'default' | 'none'
  readonly maxImageBytes: number
  readonly version: string
  /** Whether it keeps images in containerd, and not in Docker's own store. */
  readonly storesInContainerd: boolean
}

/** Asks the engine. */
export async function readFacts(docker: SocketHttp, options: DockerBuilderOptions, clock: Clock): Promise<EngineFacts> {
  // The engine is trusted to keep to its API.
  const info = (await docker.json({ method: 'GET', path: '/info', signal: AbortSignal.timeout(60_000) })) as {
    CgroupVersion?: string
    CgroupDriver?: string
    DockerRootDir?: string
    ServerVersion?: string
    DriverStatus?: readonly (readonly string[])[] | null
  }
  const layout = { version: info.CgroupVersion === '2' ? 2 : 1, driver: info.CgroupDriver ?? '' } as const
  return {
    docker,
    clock,
    limits: createStepLimits(
      layout,
      clock,
      options.network === 'none' ? {} : { ports: createBridgePorts(docker, clock) },
    ),
    floor: { directory: info.DockerRootDir ?? '', floorBytes: options.floorBytes, clock },
    network: options.network ?? 'default',
    version: info.ServerVersion ?? '',
    storesInContainerd: (info.DriverStatus ?? []).flat().some((text) => text.startsWith('io.containerd.snapshotter')),
    maxImageBytes: options.maxImageBytes ?? Number.POSITIVE_INFINITY,
  }
}

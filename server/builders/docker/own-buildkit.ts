import {
  createEngineBuildKit,
  type EngineBuildKit,
  type EngineBuildKitOptions,
  type HeldBuilder,
} from '../../engines/index.ts'
import type { Attempt } from '../../lib/attempt.ts'
import { SocketHttp } from '../../lib/socket-http.ts'
import type { BuildLimits } from '../builder.ts'
import { createBridgePorts } from './bridge-ports.ts'
import { createFindBuilderImage, type FindBuilderImageOptions } from './find-builder-image.ts'

export type OwnBuildKitOptions = Omit<EngineBuildKitOptions, 'findImage' | 'isolate'> &
  Pick<FindBuilderImageOptions, 'image' | 'fetch'>

/** The platform's own BuildKit beside a Docker Engine. */
export interface OwnBuildKit {
  /** Throws EngineError: 'unreachable' if the engine is away, else with the reason why not. */
  hold(owner: string, limits: BuildLimits, attempt: Attempt): Promise<HeldBuildKit>
}

/** A daemon, and how images travel between it and the engine. Dispose of it after the build. */
export type HeldBuildKit = HeldBuilder & Pick<EngineBuildKit, 'images' | 'receive'>

/** Asks nobody yet. */
export function createOwnBuildKit({ image, fetch, ...options }: OwnBuildKitOptions): OwnBuildKit {
  const { socketPath, clock, network } = options
  const docker = new SocketHttp({ socketPath })
  const ports = createBridgePorts(docker, clock)
  const isolate = (pid: number): Promise<void> =>
    ports.keepApart({ processes: async () => [pid], setFrozen: async () => {} })
  const kit = createEngineBuildKit({
    ...options,
    findImage: createFindBuilderImage({ docker, clock, image, fetch }),
    isolate: network === 'none' ? async () => {} : isolate,
  })
  const { images, receive } = kit
  return {
    async hold(owner, limits, attempt) {
      const held = await kit.hold(owner, limits, attempt)
      return { ...held, images, receive, [Symbol.dispose]: () => held[Symbol.dispose]() }
    },
  }
}

/*
 * The members of Docker's published API that this room sends and reads, by the API's own names.
 */

type Texts = Readonly<Record<string, string>>

/** One row of `GET /containers/json`. */
export interface ContainerInfo {
  readonly Id: string
  readonly Names: readonly string[]
  readonly Image: string
  readonly Labels: Texts
  readonly State: string
  /** Seconds since 1970. */
  readonly Created: number
  /** How long in words: `Up 3 minutes`. */
  readonly Status: string
  readonly NetworkSettings?: Networks
}

interface Networks {
  readonly Networks: Readonly<Record<string, { readonly NetworkID: string; readonly IPAddress: string }>>
}

/** The answer of `GET /containers/{id}/json`. */
export interface ContainerInspectInfo {
  readonly Id: string
  readonly Name: string
  readonly Created: string
  readonly RestartCount: number
  readonly State: {
    readonly Status: string
    readonly Running: boolean
    readonly OOMKilled: boolean
    readonly Pid: number
    readonly ExitCode: number
    readonly StartedAt: string
    readonly FinishedAt: string
  }
  readonly Config: {
    readonly Image: string
    readonly Labels: Texts
    readonly Env: readonly string[]
    readonly Cmd: readonly string[]
  }
  readonly HostConfig: HostConfig
  readonly Mounts: readonly MountPoint[]
  readonly NetworkSettings: Networks
}

/** A mounted volume or directory of a container. */
export interface MountPoint {
  readonly Type: string
  readonly Name?: string
  readonly Driver?: string
  readonly Source: string
  readonly Destination: string
}

/** What a container may do and use. */
export interface HostConfig {
  readonly CpuShares?: number
  readonly CapAdd?: readonly string[]
  readonly CapDrop?: readonly string[]
  readonly Init?: boolean
  readonly LogConfig?: { readonly Type: string; readonly Config: Texts }
  /** Paths of /proc and /sys that are hidden; a default list if undefined. */
  readonly MaskedPaths?: readonly string[]
  readonly Memory?: number
  readonly MemorySwap?: number
  readonly Mounts?: readonly Mount[]
  readonly NanoCpus?: number
  readonly NetworkMode?: string
  readonly PidsLimit?: number
  readonly PortBindings?: Readonly<Record<string, readonly { readonly HostIp?: string; readonly HostPort: string }[]>>
  readonly ReadonlyPaths?: readonly string[]
  readonly ReadonlyRootfs?: boolean
  readonly RestartPolicy?: { readonly Name: string; readonly MaximumRetryCount?: number }
  readonly SecurityOpt?: readonly string[]
  readonly StorageOpt?: Texts
}

/** A volume to mount. An empty source makes an anonymous one. */
export interface Mount {
  readonly Type: 'volume'
  readonly Source: string
  readonly Target: string
  readonly ReadOnly?: boolean
  readonly VolumeOptions?: {
    readonly NoCopy: boolean
    readonly Labels: Texts
    readonly DriverConfig: { readonly Name: string; readonly Options: Texts }
  }
}

/** The body of `POST /containers/create`. */
export interface ContainerCreateOptions {
  readonly Image?: string
  readonly Entrypoint?: readonly string[]
  readonly Cmd?: readonly string[]
  readonly Env?: readonly string[]
  readonly ExposedPorts?: Readonly<Record<string, object>>
  readonly Healthcheck?: { readonly Test: readonly string[] }
  readonly HostConfig?: HostConfig
  readonly Labels?: Texts
  readonly NetworkingConfig?: {
    readonly EndpointsConfig: Readonly<Record<string, { readonly Aliases: readonly string[] }>>
  }
  readonly StopSignal?: string
  readonly StopTimeout?: number
  readonly User?: string
}

/** The answer of `GET /containers/{id}/stats`, of which a stopped container leaves out most. */
export interface ContainerStats {
  readonly read: string
  readonly cpu_stats: { readonly cpu_usage?: { readonly total_usage: number } }
  readonly memory_stats: {
    readonly usage?: number
    readonly limit?: number
    readonly stats?: { readonly total_inactive_file?: number; readonly inactive_file?: number }
  }
}

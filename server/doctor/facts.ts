import type { Http3Facts } from '@quayside/contract/http3.ts'
import type { EngineVersions } from '../lib/known-holes.ts'
import type { LayerQuota } from '../lib/layer-quota.ts'

/** Facts about the machine, before any judgement. Undefined means that a fact is unknown. */
export interface Facts {
  readonly nodeVersion: string
  readonly isRoot: boolean
  /** Why the settings are invalid. */
  readonly settingsProblem?: string | undefined
  /** Variables of the environment that look like settings, but that no program reads. */
  readonly unknownSettings: readonly string[]
  readonly ports: readonly PortFact[]
  readonly publicPorts: { readonly first: number; readonly last: number }
  /** The ports that the kernel uses for outgoing connections. */
  readonly outgoingPorts?: { readonly first: number; readonly last: number } | undefined
  readonly disks: readonly DiskFact[]
  readonly memory: { readonly totalBytes: number; readonly availableBytes: number }
  readonly kernel: string
  readonly cgroupVersion?: 1 | 2 | undefined
  readonly gitVersion?: string | undefined
  /** Names of missing programs of packet filters. */
  readonly missingFilters: readonly string[]
  readonly engine: EngineFact
  /** Undefined: no router of this installation uses HAProxy. */
  readonly haproxy?: HaproxyFact | undefined
  /** Undefined: HTTP/3 is off. */
  readonly http3?: Omit<Http3Facts, 'build'> | undefined
  readonly domain?: DomainFact | undefined
  readonly clock: ClockFact
  readonly files: readonly FileFact[]
}

export interface PortFact {
  readonly setting: 'QUAYSIDE_PORT' | 'QUAYSIDE_ROUTER_PORT' | 'QUAYSIDE_ROUTER_TLS_PORT'
  readonly host: string
  readonly port: number
  /** `own`: by this installation. `problem`: the reason why it cannot be opened. */
  readonly state: 'free' | 'own' | 'taken' | 'problem'
}

export interface DiskFact {
  readonly path: string
  readonly totalBytes: number
  readonly freeBytes: number
  /** Zero means that the file system does not count them. */
  readonly totalInodes: number
  readonly freeInodes: number
}

export type EngineFact =
  /** The installation has none. */
  | { readonly state: 'none' }
  | { readonly state: 'silent'; readonly socket: string; readonly reason: string }
  | {
      readonly state: 'answers'
      readonly version: string
      /** The versions of the engine and its parts, as far as they are known. */
      readonly versions: EngineVersions
      readonly builder: BuilderFact
      readonly liveRestore: boolean
      readonly storageDriver: string
      readonly backingFilesystem: string
      readonly layerQuota: LayerQuota
      /** Its clock minus this one's. */
      readonly skewMs: number
    }

/** What the platform's own BuildKit needs. */
export interface BuilderFact {
  /** Whether the engine has an image of it. Without one, it is fetched for the first build. */
  readonly hasImage: boolean
  /** The setting of the kernel that denies user namespaces to ordinary users, with its value. */
  readonly deniedBy?: string | undefined
}

/** The program in front of the router, as the router would start it. */
export interface HaproxyFact {
  readonly program: string
  /** Its description of its version and its build. Undefined if it does not run. */
  readonly said?: string | undefined
  /** Why it does not run. */
  readonly reason?: string | undefined
}

export interface DomainFact {
  readonly name: string
  readonly addresses: readonly string[]
  readonly ownAddresses: readonly string[]
}

export interface ClockFact {
  readonly isSynchronized?: boolean | undefined
  readonly nowMs: number
  /** How far wall clock and steady clock drifted apart while the facts were collected. */
  readonly jumpMs: number
}

export interface FileFact {
  readonly path: string
  readonly kind: 'directory' | 'secret'
  readonly mode: number
  /**
   * `group`: it belongs to root and to the group of this process, as Kubernetes mounts Secrets and
   * volumes.
   */
  readonly owner: 'own' | 'group' | 'other'
}

import { createHash } from 'node:crypto'
import type { ContainerCreateOptions } from '../docker-api.ts'
import { label } from '../labels.ts'

/** The image that `npm run images builder` makes, from Go modules. */
export const localBuilderImage = 'quayside/builder:1'

/** The published image of the same programs, of the versions in images/builder/go.mod. */
export const publishedBuilderImage = 'docker.io/moby/buildkit:v0.34.2-rootless'

/** Limits of all builds of one owner that run at the same time. */
export interface BuilderLimits {
  readonly cpuMilli: number
  readonly memoryMiB: number
}

export interface BuilderSetting {
  readonly instance: string
  /** The organization whose builds the daemon runs. */
  readonly owner: string
  readonly image: string
  /** `none`: steps have only a loopback device. */
  readonly network: 'default' | 'none'
  /** The largest cache, in bytes. */
  readonly cacheBytes: number
}

/** BuildKit itself needs this much beside the steps. */
const ownMemoryMiB = 256
/** Processes and threads, of BuildKit itself and of the steps of each build. */
const [ownProcesses, maxProcesses] = [128, 2048]
const [user, home, runtime] = ['1000:1000', '/home/user', '/run/user/1000']
const cachePath = `${home}/.local/share/buildkit`
const address = `unix://${runtime}/buildkit/buildkitd.sock`

/** The name of the container and of the volume of its cache. Throws Error for an invalid owner. */
export function builderName({ instance, owner }: Pick<BuilderSetting, 'instance' | 'owner'>): string {
  if (!/^[a-z0-9][a-z0-9-]{0,79}$/.test(owner)) throw new Error(`"${owner}" cannot be part of a name of Docker`)
  return `quay-builder-${instance}-${owner}`
}

export const builderLabels = ({ instance, owner }: Pick<BuilderSetting, 'instance' | 'owner'>) => ({
  [label.instance]: instance,
  [label.builder]: owner,
})

/**
 * Pure: returns the container of a BuildKit without rights on the machine. Its processes are those
 * of an ordinary user of the machine, and the root of a build step is nobody on it, in a user
 * namespace of its own. BuildKit needs to mount in that namespace, which Docker's filter of system
 * calls and masked paths of /proc would deny; steps get both back from BuildKit.
 */
export function builderSpec(setting: BuilderSetting): ContainerCreateOptions {
  const megabytes = Math.round(setting.cacheBytes / 1e6)
  // The size that is kept in any case, the space that stays free, and the largest size.
  const kept = [Math.round(megabytes / 10), 0, megabytes].join(',')
  const spec = {
    Image: setting.image,
    Entrypoint: ['rootlesskit', '--net=host'],
    Cmd: [
      'buildkitd',
      '--rootless',
      `--root=${cachePath}`,
      `--addr=${address}`,
      '--oci-worker-snapshotter=overlayfs',
      '--oci-worker-gc=true',
      `--oci-worker-gc-keepstorage=${kept}`,
    ],
    User: user,
    Env: [
      'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      `HOME=${home}`,
      'USER=user',
      `XDG_RUNTIME_DIR=${runtime}`,
      `BUILDKIT_HOST=${address}`,
    ],
    HostConfig: {
      NetworkMode: setting.network === 'none' ? 'none' : 'bridge',
      PidsLimit: ownProcesses + maxProcesses,
      // Services come before builds on a busy machine.
      CpuShares: 128,
      SecurityOpt: ['seccomp=unconfined', 'apparmor=unconfined'],
      MaskedPaths: [],
      ReadonlyPaths: [],
      LogConfig: { Type: 'json-file', Config: { 'max-size': '1m', 'max-file': '2' } },
      Mounts: [
        {
          Type: 'volume',
          Source: builderName(setting),
          Target: cachePath,
          VolumeOptions: {
            NoCopy: false,
            Labels: builderLabels(setting),
            DriverConfig: { Name: 'local', Options: {} },
          },
        },
      ],
    },
  } as const
  const hash = createHash('sha256').update(JSON.stringify(spec)).digest('hex').slice(0, 16)
  return { ...spec, Labels: { ...builderLabels(setting), [label.builderSpec]: hash } }
}

/** Pure: returns the body of an update that sets the limits of a container. */
export function limitsUpdate(held: Iterable<BuilderLimits>, machineCores: number) {
  let [cpuMilli, memoryMiB, processes] = [0, ownMemoryMiB, ownProcesses]
  for (const limits of held) {
    cpuMilli += limits.cpuMilli
    memoryMiB += limits.memoryMiB
    processes += maxProcesses
  }
  const bytes = memoryMiB * 1024 * 1024
  const cores = Math.min(Math.max(cpuMilli, 100) / 1000, machineCores)
  return { Memory: bytes, MemorySwap: bytes, NanoCpus: Math.round(cores * 1e9), PidsLimit: processes }
}

import type { LongRunning, PublishedPort, Release, Task, Workload } from '../engine.ts'
import { addedCapabilities, checkedVariables, checkPaths } from '../program-rules.ts'
import type { ContainerCreateOptions, HostConfig } from './docker-api.ts'
import { containerLabels, holderName, networkName, taskLabels, volumeName } from './labels.ts'
import { writableDirectories } from './read-only-root.ts'

/** The members of HostConfig that we set; everything else keeps the daemon's default. */
export type AllowedHostConfig = Required<
  Pick<
    HostConfig,
    | 'CapAdd'
    | 'CapDrop'
    | 'Init'
    | 'LogConfig'
    | 'Memory'
    | 'MemorySwap'
    | 'Mounts'
    | 'NanoCpus'
    | 'NetworkMode'
    | 'PidsLimit'
    | 'RestartPolicy'
    | 'SecurityOpt'
  >
> &
  Pick<HostConfig, 'PortBindings' | 'ReadonlyRootfs'>

/**
 * Restart `always`: a stopped service has no container, and `unless-stopped` forgets containers
 * that a killed daemon ended itself. A task runs once.
 */
export function hostConfig(release: Release<Workload>, withInit: boolean): AllowedHostConfig {
  const workload = release.workload
  const memory = workload.memoryMiB * 1024 * 1024
  const isTask = workload.shape === 'task'
  return {
    CapAdd: addedCapabilities,
    CapDrop: ['ALL'],
    Init: withInit,
    LogConfig: { Type: 'local', Config: { 'max-size': '10m', 'max-file': '3' } },
    Memory: memory,
    MemorySwap: memory,
    Mounts: [
      ...(isTask ? [] : workload.storage).map((volume) => ({
        Type: 'volume' as const,
        Source: volumeName(volume),
        Target: volume.mountPoint,
      })),
      ...writableDirectories(workload).map((Target) => ({ Type: 'volume' as const, Source: '', Target })),
    ],
    NanoCpus: workload.cpuMilli * 1_000_000,
    NetworkMode: networkName(release.environment),
    PidsLimit: 512,
    RestartPolicy: { Name: isTask ? 'no' : 'always', MaximumRetryCount: 0 },
    SecurityOpt: ['no-new-privileges:true'],
    ...(workload.hasReadOnlyRoot && { ReadonlyRootfs: true }),
    ...(!isTask && workload.publishedPorts?.length && { PortBindings: bindingsOf(workload.publishedPorts) }),
  }
}

const portName = ({ internalPort, protocol }: PublishedPort): string => `${internalPort}/${protocol.toLowerCase()}`

const bindingsOf = (ports: readonly PublishedPort[]) =>
  Object.fromEntries(ports.map((port) => [portName(port), [{ HostIp: hostIp(port), HostPort: String(port.hostPort) }]]))

/** The engine publishes a port of `::` for IPv6 alone, and one without an address for both. */
const hostIp = ({ hostAddress }: PublishedPort): string => (hostAddress === '::' ? '' : hostAddress)

const exposedPorts = ({ publishedPorts = [] }: LongRunning) =>
  publishedPorts.length > 0 && { ExposedPorts: Object.fromEntries(publishedPorts.map((port) => [portName(port), {}])) }

/**
 * Returns the body of `POST /containers/create`. Throws EngineError('refused') for values that
 * Docker would silently misread.
 */
export const containerSpec = (
  release: Release,
  replica: number,
  options: { readonly instance: string; readonly withInit: boolean },
): ContainerCreateOptions => ({
  ...programSpec(release, options.withInit),
  Labels: containerLabels(options.instance, release, replica),
  ...exposedPorts(release.workload),
  ...(release.workload.stopSignal && { StopSignal: release.workload.stopSignal }),
  StopTimeout: release.workload.stopGraceSeconds,
})

/** Returns the body for one run of a task. */
export function taskSpec(
  release: Release<Task>,
  run: string,
  options: { readonly instance: string; readonly withInit: boolean; readonly withHolder: boolean },
): ContainerCreateOptions {
  const { HostConfig, NetworkingConfig, ...spec } = programSpec(release, options.withInit)
  return {
    ...spec,
    // Aliases belong to the holder.
    ...(options.withHolder
      ? { HostConfig: { ...HostConfig, NetworkMode: `container:${holderName(run)}` } }
      : { HostConfig, NetworkingConfig }),
    Labels: taskLabels(options.instance, release, run),
    StopTimeout: release.workload.stopGraceSeconds,
  }
}

type ProgramSpec = ContainerCreateOptions & Required<Pick<ContainerCreateOptions, 'HostConfig' | 'NetworkingConfig'>>

function programSpec(release: Release<Workload>, withInit: boolean): ProgramSpec {
  const workload = release.workload
  checkPaths(workload)
  return {
    Image: workload.image,
    ...(workload.entrypoint && { Entrypoint: [...workload.entrypoint] }),
    // With an entrypoint and no command, Docker would still add the image's command.
    ...((workload.arguments.length > 0 || workload.entrypoint) && { Cmd: [...workload.arguments] }),
    Env: environmentOf(workload),
    // The platform probes health itself; a HEALTHCHECK of the image would only cost processes.
    Healthcheck: { Test: ['NONE'] },
    HostConfig: hostConfig(release, withInit),
    NetworkingConfig: {
      EndpointsConfig: { [networkName(release.environment)]: { Aliases: [...workload.aliases] } },
    },
  }
}

const environmentOf = (workload: Workload): string[] =>
  checkedVariables(workload).map(([name, text]) => `${name}=${text}`)

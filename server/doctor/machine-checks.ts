import { isIP } from 'node:net'
import { fail, isOlder, type Outcome, ok, sizeOf, warn } from './check.ts'
import type { DiskFact, Facts, FileFact, PortFact } from './facts.ts'

const gibibyte = 1024 ** 3

export function checkSettings({ settingsProblem, unknownSettings }: Facts): Outcome {
  if (settingsProblem !== undefined) return fail(settingsProblem, 'Correct the environment variable.')
  if (unknownSettings.length > 0)
    return warn(`Unknown settings: ${unknownSettings.join(', ')}.`, 'Compare them with the settings in README.md.')
  return ok('All settings are valid.')
}

export const checkNode = ({ nodeVersion }: Facts): Outcome =>
  isOlder(nodeVersion, '24.0.0')
    ? fail(`Node.js is ${nodeVersion}.`, 'Run npm start, which installs Node.js 24.')
    : ok(`Node.js is ${nodeVersion}.`)

/** With HTTPS, one setting of the router alone would turn the usual addresses of a domain off. */
const portSettings = (setting: PortFact['setting'], ports: readonly PortFact[]): string =>
  setting !== 'QUAYSIDE_PORT' && ports.some((one) => one.setting === 'QUAYSIDE_ROUTER_TLS_PORT')
    ? 'QUAYSIDE_ROUTER_HOST, QUAYSIDE_ROUTER_PORT and QUAYSIDE_ROUTER_TLS_PORT, all three,'
    : setting

export function checkPort({ setting, host, port, state }: PortFact, { ports, isRoot }: Facts): Outcome {
  const where = `Port ${port} on ${host}`
  if (state === 'free') return ok(`${where} is free.`)
  if (state === 'own') return ok(`${where} is used by this installation.`)
  const settings = portSettings(setting, ports)
  if (state === 'taken')
    return fail(
      `${where} is in use by another program.`,
      `Stop that program (ss -ltnp names it), or set ${settings} to another port.`,
    )
  const allow = `Run as root, allow the port with sysctl -w net.ipv4.ip_unprivileged_port_start=${port}, or set`
  return fail(
    `${where} cannot be opened.`,
    `${isRoot || port >= 1024 ? 'Set' : allow} ${settings} to a port from 1024 on and an address of this machine.`,
  )
}

export function checkPublicPorts({ publicPorts, outgoingPorts }: Facts): Outcome {
  const range = `Public ports are ${publicPorts.first}-${publicPorts.last}.`
  const overlaps = outgoingPorts && publicPorts.first <= outgoingPorts.last && outgoingPorts.first <= publicPorts.last
  if (!overlaps) return ok(range)
  return warn(
    `${range} Outgoing connections use ${outgoingPorts.first}-${outgoingPorts.last} and may take them.`,
    'Set QUAYSIDE_PUBLIC_PORTS below that range, or net.ipv4.ip_local_port_range above the public ports.',
  )
}

export function checkDisk({ path, totalBytes, freeBytes }: DiskFact): Outcome {
  const free = `${sizeOf(freeBytes)} of ${sizeOf(totalBytes)} are free at ${path}.`
  const remedy =
    'Free space: GET …/diskUsage of the cluster shows the use by the platform. QUAYSIDE_DISK_BUDGET limits it.'
  if (freeBytes < gibibyte) return fail(free, remedy)
  return freeBytes < Math.min(totalBytes / 20, 10 * gibibyte) ? warn(free, remedy) : ok(free)
}

export function checkInodes({ path, totalInodes, freeInodes }: DiskFact): Outcome {
  if (totalInodes === 0) return ok(`The file system at ${path} has no fixed number of files.`)
  const share = freeInodes / totalInodes
  const free = `${freeInodes} of ${totalInodes} files can still be created at ${path}.`
  const remedy = 'Delete directories with very many small files, or use a file system with more inodes.'
  if (share < 0.01) return fail(free, remedy)
  return share < 0.05 ? warn(free, remedy) : ok(free)
}

export function checkMemory({ memory: { totalBytes, availableBytes } }: Facts): Outcome {
  const text = `${sizeOf(availableBytes)} of ${sizeOf(totalBytes)} memory are available.`
  if (totalBytes < 0.9 * gibibyte) return fail(text, 'Use a machine with at least 1 GiB, or 2 GiB if it builds images.')
  if (totalBytes < 1.9 * gibibyte)
    return warn(text, 'Builds need more. Use 2 GiB, or set QUAYSIDE_PARALLEL_BUILDS to 1.')
  return availableBytes < 256 * 1024 ** 2 ? warn(text, 'Stop services or other programs.') : ok(text)
}

export const checkKernel = ({ kernel }: Facts): Outcome =>
  isOlder(kernel, '4.18.0')
    ? warn(
        `The kernel is ${kernel}, which cannot isolate ports of a bridge.`,
        'Use 4.18 or newer, so that build steps are isolated.',
      )
    : ok(`The kernel is ${kernel}.`)

export const checkControlGroups = ({ cgroupVersion }: Facts): Outcome =>
  cgroupVersion === undefined
    ? warn('No control groups were found at /sys/fs/cgroup.', 'Mount them. Without them, builds have no limits.')
    : ok(`Control groups are version ${cgroupVersion}.`)

/** The first release of each line without CVE-2024-32002, CVE-2024-32004 and CVE-2024-32465. */
const safeGit = ['2.39.4', '2.40.2', '2.41.1', '2.42.2', '2.43.4', '2.44.1', '2.45.1']

export function checkGit({ gitVersion }: Facts): Outcome {
  const remedy = 'Install a newer git with the package manager of this system.'
  if (gitVersion === undefined) return fail('The program git is missing.', remedy)
  const line = gitVersion.split('.').slice(0, 2).join('.')
  const bound = safeGit.find((version) => version.startsWith(`${line}.`)) ?? (safeGit[0] as string)
  return isOlder(gitVersion, bound)
    ? warn(`git is ${gitVersion}, which has CVE-2024-32002 unless your distribution has fixed it.`, remedy)
    : ok(`git is ${gitVersion}.`)
}

export function checkPacketFilter({ isRoot, missingFilters, engine }: Facts): Outcome {
  if (engine.state === 'none') return ok('No service or build runs on this machine.')
  const loses = 'services and builds reach programs of this machine and the metadata of its cloud'
  if (!isRoot)
    return warn(
      `The server does not run as root: ${loses}.`,
      'Run it as root, or set the rules of the packet filter by hand.',
    )
  if (missingFilters.length > 0)
    return warn(`Missing: ${missingFilters.join(', ')}: ${loses}.`, 'Install the package iptables.')
  return ok('iptables, ip6tables and ebtables are installed.')
}

/** Whether the router listens at addresses of a family, 4 or 6. */
const hasFamily = (ports: readonly PortFact[], family: number): boolean =>
  !ports.some(({ setting, host }) => setting === 'QUAYSIDE_ROUTER_PORT' && host === '0.0.0.0') || family === 4

export function checkDomain({ domain, engine, ports }: Facts): Outcome {
  if (!domain) return ok('The domain is localhost: services answer on this machine.')
  const { name, addresses, ownAddresses } = domain
  const target = engine.state === 'none' ? 'the ingress controller or the router of the cluster' : 'this machine'
  const remedy = `Create a DNS record for *.${name.split('.').slice(1).join('.')} with the address of ${target}.`
  if (addresses.length === 0) return warn(`${name} has no address.`, remedy)
  const listed = addresses.join(', ')
  if (engine.state === 'none') return ok(`${name} leads to ${listed}.`)
  const others = addresses.filter((address) => !ownAddresses.includes(address))
  if (others.length > 0 && others.length < addresses.length)
    return warn(
      `${name} leads here and to ${others.join(', ')}, which is not an address of this machine.`,
      'Clients and certificate authorities choose one of them. Correct or remove that record.',
    )
  const closed = others.length > 0 ? [] : addresses.filter((address) => !hasFamily(ports, isIP(address)))
  if (closed.length > 0)
    return warn(
      `${name} leads here at ${closed.join(', ')} too, where the router does not listen.`,
      'Set QUAYSIDE_ROUTER_HOST to "::" for IPv4 and IPv6, or remove that record.',
    )
  if (others.length === 0) return ok(`${name} leads here (${listed}).`)
  return warn(
    `${name} resolves to ${listed}, which is not an address of this machine.`,
    `${remedy} This is no problem if a proxy or a router in front has that address.`,
  )
}

/** A time before this version was made. */
const earliest = Date.UTC(2025, 0, 1)

export function checkClock({ clock, engine }: Facts): Outcome {
  const remedy = 'Enable time synchronization: timedatectl set-ntp true.'
  if (clock.nowMs < earliest) return fail(`The clock shows ${new Date(clock.nowMs).toISOString()}.`, remedy)
  if (Math.abs(clock.jumpMs) > 1000) return warn(`The clock jumped by ${Math.round(clock.jumpMs)} ms.`, remedy)
  const skewMs = engine.state === 'answers' ? engine.skewMs : 0
  if (Math.abs(skewMs) > 5000)
    return warn(
      `The clock of the Docker Engine differs by ${Math.round(skewMs / 1000)} s.`,
      'Run the engine on this machine.',
    )
  if (clock.isSynchronized === false) return warn('The clock is not synchronized.', remedy)
  return ok(
    clock.isSynchronized
      ? 'The clock is synchronized.'
      : 'The clock is plausible. Whether it is synchronized is unknown.',
  )
}

/** The bits that let others in, by the owner of a file. */
const tooOpen = {
  own: { secret: 0o077, directory: 0o022 },
  group: { secret: 0o027, directory: 0o002 },
} as const

export function checkFile({ path, kind, mode, owner }: FileFact): Outcome {
  const shown = (mode & 0o777).toString(8)
  if (owner === 'other')
    return fail(`${path} belongs to another user.`, `Run the server as that user, or change the owner (chown).`)
  if ((mode & tooOpen[owner][kind]) === 0) return ok(`${path} has mode ${shown}.`)
  return kind === 'secret'
    ? fail(`${path} has mode ${shown}: others may read it.`, `chmod ${owner === 'own' ? 600 : 440} ${path}`)
    : fail(`${path} has mode ${shown}: others may change it.`, `chmod 711 ${path}`)
}

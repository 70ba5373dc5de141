import { accessSync, constants, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** @typedef {'systemd' | 'directly'} StartDocker */
/**
 * @typedef {{
 *   isRoot: boolean,
 *   isApt: boolean,
 *   hasGit: boolean,
 *   hasDockerd: boolean,
 *   hasSystemd: boolean,
 *   docker: 'answers' | 'denied' | 'silent',
 *   dockerHost: string | undefined,
 *   user: string,
 * }} Found
 */

/**
 * Pure: returns why this machine cannot run Quayside; undefined if it can.
 * @param {{ platform: string, arch: string, nodeVersion: string }} machine
 */
export function unsupported({ platform, arch, nodeVersion }) {
  if (Number(nodeVersion.split('.')[0]) < 20) {
    return (
      `This is Node.js ${nodeVersion}; starting needs version 20 or newer. ` +
      'Install it from https://nodejs.org and try again.'
    )
  }
  if (platform !== 'linux' || (arch !== 'x64' && arch !== 'arm64')) {
    return (
      `This is ${platform} on ${arch}; Quayside runs on Linux on x64 or arm64. ` +
      'Use such a machine, virtual machine or container.'
    )
  }
  return undefined
}

/**
 * Pure: whether packages come from apt, by the text of /etc/os-release.
 * @param {string} osRelease
 */
export function usesApt(osRelease) {
  const ids = osRelease.match(/^(ID|ID_LIKE)=.*$/gm) ?? []
  return ids.some((line) => /\b(debian|ubuntu)\b/.test(line))
}

/**
 * Pure: returns what must be installed and started before the server can start. With a refusal,
 * nothing may be done.
 * @param {Found} found
 * @returns {{ packages: string[],
 *   startDocker: StartDocker | undefined, refusal: string | undefined }}
 */
export function planSystem(found) {
  const wantsDocker = found.docker !== 'answers'
  const packages = [...(wantsDocker && !found.hasDockerd ? ['docker.io'] : []), ...(found.hasGit ? [] : ['git'])]
  const startDocker = !wantsDocker ? undefined : found.hasSystemd ? 'systemd' : 'directly'
  return { packages, startDocker, refusal: refusalOf(found, packages, startDocker) }
}

/**
 * @param {Found} found
 * @param {string[]} packages
 * @param {StartDocker | undefined} startDocker
 */
function refusalOf(found, packages, startDocker) {
  if (found.dockerHost && startDocker) {
    return (
      `QUAYSIDE_DOCKER_HOST is "${found.dockerHost}", but no Docker Engine answers there. ` +
      'Start it, or unset the variable to use the engine of this machine.'
    )
  }
  if (found.docker === 'denied') {
    return (
      'A Docker Engine runs here, but this user may not use it. Allow it, log in again and repeat:\n\n' +
      `  sudo usermod -aG docker ${found.user}\n`
    )
  }
  const notInstalled = `Not installed: ${packages.map((name) => names[name]).join(' and ')}`
  if (packages.length > 0 && !found.isApt) {
    return (
      `${notInstalled}. Install with the package manager of this system, start Docker and repeat.\n\n` +
      `  ${instructions.join('\n  ')}\n`
    )
  }
  if (found.isRoot || (packages.length === 0 && !startDocker)) return undefined
  const commands = [
    ...(packages.length > 0 ? ['sudo apt-get update', `sudo ${aptInstall(packages).join(' ')}`] : []),
    ...(startDocker === 'systemd' ? ['sudo systemctl enable --now docker'] : []),
    ...(startDocker === 'directly' ? ['sudo sh -c "nohup dockerd >/var/log/dockerd.log 2>&1 &"'] : []),
    ...(startDocker ? [`sudo usermod -aG docker ${found.user}    # then log in again`] : []),
  ]
  const missing = packages.length > 0 ? notInstalled : 'Docker does not run'
  return (
    `${missing}, and only root can change that. Run these commands and repeat, or start as root:\n\n` +
    `  ${commands.join('\n  ')}\n`
  )
}

/** @type {Record<string, string>} */
const names = { 'docker.io': 'Docker Engine', git: 'git' }
const instructions = [
  'Docker Engine: https://docs.docker.com/engine/install/',
  'git: https://git-scm.com/downloads/linux',
]

/**
 * Returns the command line that installs packages on Debian and Ubuntu.
 * @param {string[]} packages
 */
export const aptInstall = (packages) => ['apt-get', 'install', '-y', '--no-install-recommends', ...packages]

/**
 * Whether a program is installed, in PATH or in a directory of system programs.
 * @param {string} program
 */
export function isInstalled(program, path = process.env.PATH ?? '') {
  return [...path.split(':'), '/usr/sbin', '/sbin', '/usr/local/sbin'].some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK)
      return directory !== ''
    } catch {
      return false
    }
  })
}

/**
 * Returns the text of a file, or '' if it cannot be read.
 * @param {string} path
 */
export function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

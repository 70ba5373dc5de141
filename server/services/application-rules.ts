import { AppError } from '../lib/error.ts'
import type { ApplicationSettings } from './application-settings.ts'

/** What the machine has: thousandths of a core, MB of memory, and its processor. */
export interface Ceiling {
  readonly cpu: number
  readonly memory: number
  readonly architecture: 'AMD64' | 'ARM64'
}

const branchForm = /^[A-Za-z0-9][A-Za-z0-9._/+@#-]{0,243}$/
const branchTraps = /\.\.|@\{|\/\/|\.lock(?:\/|$)|\/$|\/\.|\.$/
const stageForm = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/
const portNameForm = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i

/** Rules that go beyond a field's own form. Throws the first one that is broken, with the field's name. */
export function checkApplication(settings: ApplicationSettings, ceiling: Ceiling): void {
  const { git_repository: git, cpu, memory } = settings
  if (git.branch !== undefined && (!branchForm.test(git.branch) || branchTraps.test(git.branch))) {
    refuse('git_repository.branch', 'is not the name of a branch')
  }
  checkRelativePath('git_repository.root_path', git.root_path.replace(/^\/+/, ''), true)
  if (settings.dockerfile_path !== null) checkRelativePath('dockerfile_path', settings.dockerfile_path, false)
  if (settings.docker_target_build_stage && !stageForm.test(settings.docker_target_build_stage)) {
    refuse('docker_target_build_stage', 'is not the name of a build stage')
  }
  if (cpu > ceiling.cpu) refuse('cpu', `must be ≤ ${ceiling.cpu}, which is what the cluster has`)
  if (memory > ceiling.memory) refuse('memory', `must be ≤ ${ceiling.memory} MB, which is what the cluster has`)
  if (settings.cpu_architecture !== null && settings.cpu_architecture !== ceiling.architecture) {
    refuse('cpu_architecture', `must be ${ceiling.architecture}, which is what the cluster has`)
  }
  if (settings.gpu > 0) refuse('gpu', 'must be 0: the cluster has no GPU')
  checkInstances(settings)
  checkPorts(settings)
  checkStorage(settings)
  checkProbes(settings)
  checkIcon(settings.icon_uri)
  if (settings.entrypoint?.includes('\0')) refuse('entrypoint', 'must not hold a NUL')
}

function refuse(field: string, sentence: string): never {
  throw new AppError('invalid', `${field} ${sentence}.`)
}

/** A POSIX path that stays below where it starts. */
function checkRelativePath(field: string, path: string, mayBeEmpty: boolean): void {
  if (path === '' && mayBeEmpty) return
  const odd = /[\p{Cc}\\:]/u.test(path) || path.startsWith('/') || path.startsWith('-') || path === ''
  if (odd || path.split('/').includes('..')) refuse(field, 'must be a relative path inside the repository')
}

function checkInstances({ min_running_instances: min, max_running_instances: max }: ApplicationSettings): void {
  if (max === 0) refuse('max_running_instances', 'must be ≥ 1, or -1 for no limit')
  if (max !== -1 && min > max) refuse('min_running_instances', 'must be ≤ max_running_instances')
}

function checkPorts({ ports }: ApplicationSettings): void {
  for (const [index, port] of ports.entries()) {
    if (!portNameForm.test(port.name)) refuse(`ports[${index}].name`, 'must be letters, digits and hyphens, at most 63')
    if (ports.findIndex((other) => other.id === port.id) !== index) refuse(`ports[${index}].id`, 'is used twice')
    if (ports.findIndex((other) => other.name === port.name) !== index) refuse(`ports[${index}].name`, 'is used twice')
    if (ports.findIndex((other) => other.internal_port === port.internal_port) !== index) {
      refuse(`ports[${index}].internal_port`, 'is used twice')
    }
  }
  if (ports.filter((port) => port.is_default).length > 1) refuse('ports', 'must have at most one with is_default')
  const raw = ports.findIndex((port) => port.publicly_accessible && port.protocol !== 'HTTP')
  if (raw !== -1) {
    refuse(`ports[${raw}].publicly_accessible`, 'must be false unless the protocol is HTTP: the router speaks HTTP/1.1')
  }
}

const forbiddenMounts = /^\/(?:proc|sys|dev)(?:\/|$)|^\/var\/run(?:\/|$)|^\/run\/docker/

function checkStorage({ storage }: ApplicationSettings): void {
  for (const [index, { id, mount_point: path }] of storage.entries()) {
    if (storage.findIndex((other) => other.id === id) !== index) refuse(`storage[${index}].id`, 'is used twice')
    const field = `storage[${index}].mount_point`
    const plain =
      /^(?:\/[A-Za-z0-9._@+-]+)+$/.test(path) && !path.split('/').some((part) => part === '..' || part === '.')
    if (!plain || forbiddenMounts.test(path))
      refuse(field, 'must be an absolute path, not below /proc, /sys, /dev or /var/run')
    if (storage.findIndex((other) => other.mount_point === path) !== index) refuse(field, 'is used twice')
  }
}

function checkProbes({ healthchecks }: ApplicationSettings): void {
  for (const name of ['readiness_probe', 'liveness_probe'] as const) {
    const probe = healthchecks[name]
    if (!probe) continue
    const field = `healthchecks.${name}.type`
    const chosen = Object.values(probe.type).filter((kind) => kind !== null && kind !== undefined)
    if (chosen.length !== 1) refuse(field, 'must hold exactly one of tcp, http, exec, grpc')
    const { http, tcp } = probe.type
    if (http && (!http.path.startsWith('/') || /[\p{Cc} ]/u.test(http.path)))
      refuse(`${field}.http.path`, 'must be a path')
    if (tcp?.host && tcp.host !== 'localhost') refuse(`${field}.tcp.host`, 'must be empty or localhost')
  }
}

function checkIcon(uri: string): void {
  const url = URL.parse(uri)
  if (!url || !['http:', 'https:', 'app:'].includes(url.protocol))
    refuse('icon_uri', 'must be an http, https or app address')
}

/** Volumes hold data: after a deployment they only grow. */
export function checkStorageGrowth(former: ApplicationSettings, next: ApplicationSettings): void {
  for (const volume of next.storage) {
    const before = former.storage.find((candidate) => candidate.id === volume.id)
    if (before && volume.size < before.size) {
      throw new AppError('conflict', `The storage at ${volume.mount_point} has ${before.size} GB and cannot shrink.`)
    }
  }
}

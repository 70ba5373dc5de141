import { AppError } from '../../lib/error.ts'
import { isRouted, type PortSettings, type StorageSettings } from './ports.ts'
import { type PublicPath, readPublicPath, sharesHost, takesEverything } from './public-path.ts'

/** The capacity of the machine: thousandths of a core, MB of memory, and its processor. */
export interface Ceiling {
  readonly cpu: number
  readonly memory: number
  readonly architecture: 'AMD64' | 'ARM64'
}

/**
 * Rules beyond the form of single fields. Each throws with the name of the field that breaks it.
 */
export function refuse(field: string, sentence: string): never {
  throw new AppError('invalid', `${field} ${sentence}.`)
}

export function checkResources(
  settings: {
    readonly cpu: number
    readonly memory: number
    readonly gpu: number
    readonly cpu_architecture: 'AMD64' | 'ARM64' | null
  },
  ceiling: Ceiling,
): void {
  checkSize(settings, ceiling)
  if (settings.cpu_architecture !== null && settings.cpu_architecture !== ceiling.architecture) {
    refuse('cpu_architecture', `must be ${ceiling.architecture}, the architecture of the cluster`)
  }
  if (settings.gpu > 0) refuse('gpu', 'must be 0: the cluster has no GPU')
}

export function checkSize({ cpu, memory }: { readonly cpu: number; readonly memory: number }, ceiling: Ceiling): void {
  if (cpu > ceiling.cpu) refuse('cpu', `must be ≤ ${ceiling.cpu}, the capacity of the cluster`)
  if (memory > ceiling.memory) refuse('memory', `must be ≤ ${ceiling.memory} MB, the capacity of the cluster`)
}

/** Checks a POSIX path that must stay below its starting directory. */
export function checkRelativePath(field: string, path: string, mayBeEmpty: boolean): void {
  if (path === '' && mayBeEmpty) return
  const odd = /[\p{Cc}\\:]/u.test(path) || path.startsWith('/') || path.startsWith('-') || path === ''
  if (odd || path.split('/').includes('..')) refuse(field, 'must be a relative path inside the repository')
}

const stageForm = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/
export function checkBuildStage(field: string, stage: string | null): void {
  if (stage && !stageForm.test(stage)) refuse(field, 'is not the name of a build stage')
}

export function checkInstances({
  min_running_instances: min,
  max_running_instances: max,
}: {
  readonly min_running_instances: number
  readonly max_running_instances: number
}): void {
  if (max === 0) refuse('max_running_instances', 'must be ≥ 1, or -1 for no limit')
  if (max !== -1 && min > max) refuse('min_running_instances', 'must be ≤ max_running_instances')
}

const portNameForm = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i

interface NamedPort {
  readonly id: string
  readonly name: string
  readonly internal_port: number
  readonly is_default: boolean
}

/** Checks that names and ids are unique and that at most one port is the default. */
export function checkPortNames(ports: readonly NamedPort[]): void {
  for (const [index, port] of ports.entries()) {
    if (!portNameForm.test(port.name)) refuse(`ports[${index}].name`, 'must be letters, digits and hyphens, at most 63')
    if (ports.findIndex((other) => other.id === port.id) !== index) refuse(`ports[${index}].id`, 'is used twice')
    if (ports.findIndex((other) => other.name === port.name) !== index) refuse(`ports[${index}].name`, 'is used twice')
  }
  if (ports.filter((port) => port.is_default).length > 1) refuse('ports', 'must have at most one with is_default')
}

export function checkPorts(ports: readonly PortSettings[]): void {
  checkPortNames(ports)
  for (const [index, port] of ports.entries()) {
    const twin = ports.findIndex((other) => other.internal_port === port.internal_port)
    if (twin !== index) refuse(`ports[${index}].internal_port`, 'is used twice')
  }
  checkPaths(ports)
}

/**
 * Throws 400 for a path on a port that is not public HTTP or gRPC, and for ports that share host
 * names and path.
 */
function checkPaths(ports: readonly PortSettings[]): void {
  const taken = new Map<string, number>()
  for (const [index, port] of ports.entries()) {
    const at = pathAt(port, `ports[${index}]`)
    if (!isRouted(port) && !takesEverything(at)) {
      refuse(`ports[${index}].public_path`, 'must be absent: only public ports with HTTP or gRPC have paths')
    }
    if (!isRouted(port) || !sharesHost(port, at)) continue
    const other = taken.get(at.path)
    if (other !== undefined) refuse(`ports[${index}].public_path`, `is already used by ports[${other}]`)
    taken.set(at.path, index)
  }
}

function pathAt(port: PortSettings, field: string): PublicPath {
  try {
    return readPublicPath(port)
  } catch (error) {
    throw new AppError('invalid', `${field}.${error instanceof Error ? error.message : 'public_path is invalid'}`)
  }
}

const forbiddenMounts = /^\/(?:proc|sys|dev)(?:\/|$)|^\/var\/run(?:\/|$)|^\/run\/docker/

export function checkStorage(storage: readonly StorageSettings[]): void {
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

/** Checks that deployed volumes only grow, because they hold data. */
export function checkStorageGrowth(
  { storage: former }: { readonly storage: readonly StorageSettings[] },
  { storage: next }: { readonly storage: readonly StorageSettings[] },
): void {
  for (const volume of next) {
    const before = former.find((candidate) => candidate.id === volume.id)
    if (before && volume.size < before.size) {
      throw new AppError('conflict', `The storage at ${volume.mount_point} has ${before.size} GB and cannot shrink.`)
    }
  }
}

export function checkIcon(uri: string): void {
  const url = URL.parse(uri)
  if (!url || !['http:', 'https:', 'app:'].includes(url.protocol))
    refuse('icon_uri', 'must be an http, https or app address')
}

export function checkEntrypoint(field: string, entrypoint: string | undefined): void {
  if (entrypoint?.includes('\0')) refuse(field, 'must not contain a NUL')
}

/** Returns which of an object's members is set; calls `refuse` unless it is exactly one. */
export function onlyOne<K extends string>(field: string, object: Readonly<Record<K, unknown>>): K {
  // Object.keys loses the type of its keys.
  const names = Object.keys(object) as K[]
  const [chosen, ...others] = names.filter((name) => object[name] !== null && object[name] !== undefined)
  if (!chosen || others.length > 0) refuse(field, `must hold exactly one of ${names.join(', ')}`)
  return chosen
}

const imageForm = /^[a-z0-9]+(?:(?:[._]|__|-+|\/)[a-z0-9]+)*$/
const tagForm = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/

/** Checks an image. `field` is the prefix of the names, such as `source.image.`. */
export function checkImage(field: string, { image_name, tag }: { readonly image_name: string; readonly tag: string }) {
  if (!imageForm.test(image_name))
    refuse(`${field}image_name`, 'must be the path of an image, without registry and tag')
  checkTag(`${field}tag`, tag)
}

export function checkTag(field: string, tag: string): void {
  if (!tagForm.test(tag)) refuse(field, 'must be the tag of an image')
}

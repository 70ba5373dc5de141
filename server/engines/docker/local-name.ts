import { EngineError } from '../engine.ts'
import { parseReference } from './image-reference.ts'

/**
 * The host of our tags for fetched images. Docker only gives digests to images that it pulled
 * itself, so `ghcr.io/team/web@sha256:…` becomes
 * `fetched.quayside.invalid/ghcr.io/team/web:sha256-…`. Hosts below `invalid` do not exist (RFC
 * 2606), so an engine without the image never asks a registry for it.
 */
export const fetchedHost = 'fetched.quayside.invalid'
const mostCharacters = 255

const plainHost = /^[a-z0-9]+(?:(?:\.|-+)[a-z0-9]+)*(?::[0-9]+)?$/

/**
 * Returns the tag for a pinned reference. Throws EngineError('refused') if the name is too long.
 */
export function localName(reference: string): string {
  const { host, name, digest } = parseReference(reference)
  if (digest === undefined) throw new EngineError('refused', `"${reference}" is not pinned: it has no digest`)
  const local = `${fetchedHost}/${hostName(host)}/${name.slice(host.length + 1)}`
  if (local.length > mostCharacters) {
    throw new EngineError('refused', `The name of the image "${name}" is too long. Give it a shorter one.`)
  }
  return `${local}:${tagOf(digest)}`
}

/** Returns the reference for such a tag. Undefined for any other tag. */
export function fetchedAs(tag: string): string | undefined {
  const [, host, path, hex] = ourTag.exec(tag) ?? []
  return host === undefined ? undefined : `${hostOf(host)}/${path}@sha256:${hex}`
}
const ourTag = /^fetched\.quayside\.invalid\/([^/:]+)\/([^:]+):sha256-([0-9a-f]{64})$/

const tagOf = (digest: string): string => digest.replace(':', '-')

/**
 * Encodes a host as a part of an image name, which allows neither ":" nor capital letters. "_" is
 * not allowed in hosts, so it replaces ":". Other characters are written in hex.
 */
const hostName = (host: string): string =>
  plainHost.test(host) ? host.replace(':', '_') : `hex__${Buffer.from(host).toString('hex')}`

const hostOf = (part: string): string =>
  part.startsWith('hex__') ? Buffer.from(part.slice('hex__'.length), 'hex').toString() : part.replace('_', ':')

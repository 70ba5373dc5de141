import { EngineError } from '../engine.ts'
import { parseReference } from './image-reference.ts'

/**
 * Images that were fetched have a tag of their own on the engine, because Docker gives digests to
 * nothing but what it pulled itself: `ghcr.io/team/web@sha256:…` is
 * `fetched.quayside.invalid/ghcr.io/team/web:sha256-…`. Nobody answers for a host below `invalid`
 * (RFC 2606), so an engine that has no such image asks no registry for it.
 */
export const fetchedHost = 'fetched.quayside.invalid'
const mostCharacters = 255

const plainHost = /^[a-z0-9]+(?:(?:\.|-+)[a-z0-9]+)*(?::[0-9]+)?$/

/**
 * The tag of a pinned reference. Throws EngineError('refused') for a name that leaves no room for
 * it.
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

/** The reference that has this tag; undefined where it is none of ours. */
export function fetchedAs(tag: string): string | undefined {
  const [, host, path, hex] = ourTag.exec(tag) ?? []
  return host === undefined ? undefined : `${hostOf(host)}/${path}@sha256:${hex}`
}
const ourTag = /^fetched\.quayside\.invalid\/([^/:]+)\/([^:]+):sha256-([0-9a-f]{64})$/

const tagOf = (digest: string): string => digest.replace(':', '-')

/**
 * Writes a host as a part of a name, which allows neither ":" nor capital letters. No host holds
 * "_", so it replaces ":"; other characters are written in hex.
 */
const hostName = (host: string): string =>
  plainHost.test(host) ? host.replace(':', '_') : `hex__${Buffer.from(host).toString('hex')}`

const hostOf = (part: string): string =>
  part.startsWith('hex__') ? Buffer.from(part.slice('hex__'.length), 'hex').toString() : part.replace('_', ':')

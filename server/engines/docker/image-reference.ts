import { EngineError } from '../engine.ts'

/** The parts of an image reference, as Docker understands it. */
export interface ImageReference {
  /** The registry's host; `docker.io` by default. */
  readonly host: string
  /** Host and path in full, with the parts that may be omitted: `docker.io/library/nginx`. */
  readonly name: string
  readonly tag: string | undefined
  readonly digest: string | undefined
}

const part = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*'
const host =
  '(?:localhost|[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)+|[A-Za-z0-9.-]+(?=:[0-9])|\\[[0-9a-fA-F:]+\\])(?::[0-9]{1,5})?'
const grammar = new RegExp(
  `^(?:(${host})/)?(${part}(?:/${part})*)(?::([A-Za-z0-9_][A-Za-z0-9._-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$`,
)

/**
 * Hosts below `invalid` (RFC 2606) are reserved for the engine's own names of fetched images. Users
 * must not reach another user's image by such a name.
 */
const isReserved = (host: string): boolean => /(?:^|\.)invalid(?::\d+)?$/i.test(host)

/**
 * Parses a reference. Throws EngineError('refused') if it is invalid. A valid reference is safe in
 * a path of the daemon's API.
 */
export function parseReference(text: string): ImageReference {
  const [, given, path = '', tag, digest] = grammar.exec(text) ?? []
  if (path === '' || text.length > 500) {
    throw new EngineError(
      'refused',
      `"${text.slice(0, 200)}" is not a valid image name. Use lower-case letters and digits, separated by "/", ".", ` +
        '"_" or "-", and a tag.',
    )
  }
  if (given !== undefined && isReserved(given)) {
    throw new EngineError(
      'refused',
      `The image "${text.slice(0, 200)}" has no registry: a host must not end in "invalid". Correct its name.`,
    )
  }
  const isHub = given === undefined || given === 'docker.io' || given === 'index.docker.io'
  const name = isHub ? `docker.io/${path.includes('/') ? path : `library/${path}`}` : `${given}/${path}`
  return { host: isHub ? 'docker.io' : given, name, tag, digest }
}

/** Whether a reference is the id of an image on an engine. No registry knows such ids. */
export const isImageId = (reference: string): boolean => /^sha256:[0-9a-f]{64}$/.test(reference)

import { EngineError } from '../engine.ts'

/** A reference taken apart, as Docker understands it. */
export interface ImageReference {
  /** Where its registry answers, `docker.io` where none is named. */
  readonly host: string
  /** Host and path, with what Docker leaves out for short: `docker.io/library/nginx`. */
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
 * Names below `invalid` (RFC 2606) are the engine's own for what was fetched: nobody may ask for
 * another's image by them.
 */
const isReserved = (host: string): boolean => /(?:^|\.)invalid(?::\d+)?$/i.test(host)

/**
 * Throws EngineError('refused') for what is no reference. What passes may stand in a path of the
 * daemon.
 */
export function parseReference(text: string): ImageReference {
  const [, given, path = '', tag, digest] = grammar.exec(text) ?? []
  if (path === '' || text.length > 500) {
    throw new EngineError(
      'refused',
      `"${text.slice(0, 200)}" is no valid name of an image: lower-case letters and digits, with "/", ".", ` +
        `"_" or "-" between, and a tag. Correct the image's name and tag.`,
    )
  }
  if (given !== undefined && isReserved(given)) {
    throw new EngineError(
      'refused',
      `The image "${text.slice(0, 200)}" has no registry: no host ends in "invalid". Correct its name.`,
    )
  }
  const isHub = given === undefined || given === 'docker.io' || given === 'index.docker.io'
  const name = isHub ? `docker.io/${path.includes('/') ? path : `library/${path}`}` : `${given}/${path}`
  return { host: isHub ? 'docker.io' : given, name, tag, digest }
}

/** Whether it is the id of an image on an engine, which no registry knows. */
export const isImageId = (reference: string): boolean => /^sha256:[0-9a-f]{64}$/.test(reference)

const part = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*'
const host =
  '(?:localhost|[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)+|[A-Za-z0-9.-]+(?=:[0-9])|\\[[0-9a-fA-F:]+\\])(?::[0-9]{1,5})?'
const grammar = new RegExp(
  `^(?:(${host})/)?(${part}(?:/${part})*)(?::([A-Za-z0-9_][A-Za-z0-9._-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$`,
)
const longest = 500

/**
 * Returns the full name of an image as Docker stores it: `docker.io/library/node:24`, or
 * `host/name@sha256:…`. Undefined if the text is not a name. Image ids are not names: they belong
 * to one engine, and the image may be anybody's.
 */
export function fullImageName(image: string): string | undefined {
  const [, given, path = '', tag, digest] = image.length > longest ? [] : (grammar.exec(image) ?? [])
  if (path === '' || isId(image)) return undefined
  const isHub = given === undefined || given === 'docker.io' || given === 'index.docker.io'
  const name = isHub ? `docker.io/${path.includes('/') ? path : `library/${path}`}` : `${given}/${path}`
  return digest ? `${name}@${digest}` : `${name}:${tag ?? 'latest'}`
}

/** `sha256:…`, whole or shortened, and a whole id without the prefix. */
const isId = (image: string): boolean => /^(?:sha256:[0-9a-f]+|[0-9a-f]{64})$/.test(image)

/**
 * Returns the host and port of an image's registry; undefined for Docker Hub and images without a
 * registry.
 */
export function registryHostOf(image: string): string | undefined {
  const [first = '', ...rest] = image.split('/')
  return rest.length > 0 && /[.:A-Z]|^localhost$/.test(first) ? first : undefined
}

/** Returns the name as Docker shows it: images of Docker Hub have no host. */
const familiarName = (image: string): string => image.toLowerCase().replace(/^(?:index\.)?docker\.io\//, '')

/**
 * The engine's repository for base images while a build runs. No registry can exist under that
 * host.
 */
export const baseRepository = 'base.quayside.invalid/image'

/** The prefix of tags of images that the server fetched from registries. */
export const fetchedPrefix = 'fetched.quayside.invalid/'

/** Whether an image was built here for a service. `quayside/node` is public. */
export const isServiceImage = (image: string): boolean => /^quayside\/(?!node(?:[:@]|$))/.test(familiarName(image))

/** Whether only this platform may use the name. */
export const isOwnImage = (image: string): boolean =>
  isServiceImage(image) || (registryHostOf(image)?.toLowerCase().split(':')[0] ?? '').endsWith('quayside.invalid')

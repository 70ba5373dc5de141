const part = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*'
const host =
  '(?:localhost|[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)+|[A-Za-z0-9.-]+(?=:[0-9])|\\[[0-9a-fA-F:]+\\])(?::[0-9]{1,5})?'
const grammar = new RegExp(
  `^(?:(${host})/)?(${part}(?:/${part})*)(?::([A-Za-z0-9_][A-Za-z0-9._-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$`,
)
const longest = 500

/**
 * Returns the full name of an image as Docker stores it: `docker.io/library/node:24`, or
 * `host/name@sha256:…`. Undefined for text that is not a name, such as an image id: an id belongs
 * to one engine, whose images may be anybody's.
 */
export function fullImageName(image: string): string | undefined {
  const [, given, path = '', tag, digest] = image.length > longest ? [] : (grammar.exec(image) ?? [])
  if (path === '' || isId(image)) return undefined
  const isHub = given === undefined || given === 'docker.io' || given === 'index.docker.io'
  const name = isHub ? `docker.io/${path.includes('/') ? path : `library/${path}`}` : `${given}/${path}`
  return digest ? `${name}@${digest}` : `${name}:${tag ?? 'latest'}`
}

/** `sha256:…`, whole or shortened, and a whole id without its prefix. */
const isId = (image: string): boolean => /^(?:sha256:[0-9a-f]+|[0-9a-f]{64})$/.test(image)

/**
 * The host of its registry, with its port; undefined: Docker Hub, or an image without a registry.
 */
export function registryHostOf(image: string): string | undefined {
  const [first = '', ...rest] = image.split('/')
  return rest.length > 0 && /[.:A-Z]|^localhost$/.test(first) ? first : undefined
}

/** As Docker shows it: names of Docker Hub are known without their host. */
const familiarName = (image: string): string => image.toLowerCase().replace(/^(?:index\.)?docker\.io\//, '')

/**
 * The repository of a build's images on the engine while it runs. Nobody can answer for that host.
 */
export const baseRepository = 'base.quayside.invalid/image'

/** Of the tags of images that the server fetched from registries. */
export const fetchedPrefix = 'fetched.quayside.invalid/'

/** Images that are built here for services; `quayside/node` is for everybody. */
export const isServiceImage = (image: string): boolean => /^quayside\/(?!node(?:[:@]|$))/.test(familiarName(image))

/** Names that this platform gives to images, and that nobody else may use. */
export const isOwnImage = (image: string): boolean =>
  isServiceImage(image) || (registryHostOf(image)?.toLowerCase().split(':')[0] ?? '').endsWith('quayside.invalid')

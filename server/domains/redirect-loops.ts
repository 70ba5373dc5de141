import {
  type Addressed,
  compileRedirects,
  type Redirecting,
  type Redirection,
  resolved,
} from '@quayside/contract/redirects.ts'
import type { RedirectRule } from '@quayside/contract/routes.ts'
import { urlOf } from './links.ts'

/** A path of a host name that leads to a service. `/` is the whole host. */
export interface HostPath {
  readonly host: string
  readonly path: string
  /** Whether it leads to the service of the redirects. */
  readonly isOwn: boolean
}

const usualAddress = { scheme: 'https', port: 443 } as const
/** Browsers give up after so many. */
const mostSteps = 20

/**
 * Returns the addresses of a request that is redirected too often, in their order. Undefined if
 * every redirect ends. `places` are all paths of the host names of the service, and `ports` the
 * ones of its router besides the usual ones. A service without a host name has its first one
 * later, so its redirects are followed too.
 */
export function redirectLoop(
  rules: readonly RedirectRule[],
  places: readonly HostPath[],
  ports: readonly number[] = [],
): readonly string[] | undefined {
  const redirect = compileRedirects(rules)
  const known = places.length > 0 ? places : [{ host: 'service.invalid', path: '/', isOwn: true }]
  const leadsHere = ownAddresses(known, ports)
  const steps = new Map<string, number>()
  for (const { host, path, isOwn } of differing(known, rules)) {
    if (!isOwn) continue
    for (const start of samplesOf(rules, path)) {
      const url = URL.parse(urlOf(host.replace(/^\*/, sampleName), usualAddress) + start)
      const trail = url && followed(redirect, url, { leadsHere, steps })
      if (trail) return trail
    }
  }
  return undefined
}

/**
 * Returns the places of host names that redirects treat differently: each host name that a redirect
 * leads to, and one of all others with the same paths.
 */
export function differing(places: readonly HostPath[], rules: readonly RedirectRule[]): readonly HostPath[] {
  const targets = rules.map(({ to }) => to.toLowerCase()).filter((to) => !to.startsWith('/'))
  const isNamed = (host: string): boolean => targets.some((to) => to.includes(host.replace(/^\*\./, '')))
  const kinds = Map.groupBy(
    Map.groupBy(places, ({ host }) => host),
    ([host, own]) => (isNamed(host) ? host : JSON.stringify(own.map(({ path, isOwn }) => [path, isOwn]))),
  )
  return [...kinds.values()].flatMap(([first]) => first?.[1] ?? [])
}

interface Following {
  readonly leadsHere: (url: URL) => boolean
  /** How many redirects follow each address that ends. */
  readonly steps: Map<string, number>
}

/** Returns the addresses of a request that is redirected more often than browsers follow. */
function followed(redirect: Redirecting, start: URL, { leadsHere, steps }: Following): readonly string[] | undefined {
  const trail: string[] = []
  let url: URL | undefined = start
  while (url && leadsHere(url)) {
    trail.push(url.href)
    const rest: number | undefined = steps.get(url.href)
    if (trail.length + (rest ?? 0) > mostSteps + 1) return trail
    if (rest !== undefined) break
    const request: Addressed = { origin: url.origin, url: url.pathname + url.search }
    const found: Redirection | undefined = redirect(request)
    url = found && resolved(found.location, request)
  }
  const last = steps.get(trail.at(-1) ?? '') ?? 0
  for (const [index, address] of trail.entries()) steps.set(address, last + trail.length - 1 - index)
  return undefined
}

/** Returns the function that says whether the service of the redirects answers at an address. */
function ownAddresses(places: readonly HostPath[], ports: readonly number[]): (url: URL) => boolean {
  const byHost = Map.groupBy(places, ({ host }) => host)
  const usual = new Set(['', ...ports.map(String)])
  return ({ hostname, port, pathname }) => {
    if (!usual.has(port)) return false
    const own = byHost.get(hostname) ?? byHost.get(`*${hostname.slice(hostname.indexOf('.'))}`) ?? []
    const [nearest] = own
      .filter(({ path }) => path === '/' || pathname === path || pathname.startsWith(`${path}/`))
      .sort((one, other) => other.path.length - one.path.length)
    return nearest?.isOwn ?? false
  }
}

const sampleName = 'page'

/**
 * Returns a path for each rule that it matches, as long as no rule before it does. A rule for all
 * paths also gets samples below the path of the route.
 */
function samplesOf(rules: readonly RedirectRule[], place: string): readonly string[] {
  const base = place === '/' ? '' : place
  const name = freshName(rules)
  return rules.flatMap(({ from }) => {
    if (!from.endsWith('/*')) return [from]
    const all = from.slice(0, -2)
    const below = [all === '' ? '/' : all, `${all}/${name}`]
    return base === '' || !base.startsWith(all) ? below : [...below, base, `${base}/${name}`]
  })
}

/** Returns a segment that no rule names. */
function freshName(rules: readonly RedirectRule[]): string {
  const named = new Set(rules.flatMap(({ from, to }) => `${from}/${to}`.split('/')))
  let name = sampleName
  while (named.has(name)) name += sampleName
  return name
}

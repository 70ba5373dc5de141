import { isDeepStrictEqual } from 'node:util'
import type { Route, RouteRules } from '@quayside/contract/routes.ts'
import type { KubeObject } from './kube-objects.ts'
import { pathsOf, type RoutePath } from './route-paths.ts'
import { traefikRules } from './traefik-rules.ts'

/** The ingress controllers for which the platform writes rules, and all others. */
export type Controller = 'traefik' | 'other'

/**
 * Returns the controller of an ingress class, by the member `controller` of its `spec`. The name of
 * ingress-nginx is no proof of its annotations: other programs answer to it and ignore some of
 * them, such as allowed networks.
 */
export const controllerOf = (name: unknown): Controller =>
  name === 'traefik.io/ingress-controller' ? 'traefik' : 'other'

/** The names and labels of what belongs to one route. */
export interface RuleSetting {
  readonly namespace: string
  readonly labels: Readonly<Record<string, string>>
  /** The name of the route's Ingress. Names of its other objects begin with it. */
  readonly name: string
  /** The name of the Service behind it. */
  readonly service: string
  /** Whether the cluster has the kinds Middleware and ServersTransport of Traefik. */
  readonly hasTraefikKinds: boolean
  /** Whether plain HTTP is redirected to HTTPS. Undefined for a host without a certificate. */
  readonly redirects?: boolean | undefined
}

/** A rule that a controller cannot apply. */
export interface UnsupportedRule {
  readonly rule: keyof RouteRules | 'rewrite' | 'speaksHttp2'
  /** Why not, as the end of a sentence. */
  readonly reason: string
}

/** What a controller needs to apply the rules of a route. */
export interface RuleMapping {
  readonly paths: readonly RoutePath[]
  /** Annotations of the Ingress. */
  readonly ingress: Readonly<Record<string, string>>
  /** Annotations of the Service. */
  readonly service: Readonly<Record<string, string>>
  readonly objects: readonly KubeObject[]
  readonly unsupported: readonly UnsupportedRule[]
}

const notTraefik = 'the platform writes rules only for Traefik and for its own router, not for this ingress controller'

const mappers = {
  traefik: traefikRules,
  other: ({ path, rewrite, speaksHttp2 = false, rules = {} }: Route): RuleMapping => ({
    paths: pathsOf(path),
    ingress: {},
    service: {},
    objects: [],
    unsupported: [
      ...Object.keys(rules),
      ...(rewrite === undefined ? [] : ['rewrite']),
      ...(speaksHttp2 ? ['speaksHttp2'] : []),
    ].map((rule) => ({
      // The keys of an object literal type.
      rule: rule as UnsupportedRule['rule'],
      reason: notTraefik,
    })),
  }),
}

/** Maps the rules of a route to what its controller understands. Pure. */
export const mapRules = (route: Route, controller: Controller, setting: RuleSetting): RuleMapping =>
  mappers[controller](route, setting)

/**
 * Returns the rules of a route that the controller cannot apply. Rules with the value of `usual`
 * are left out: the defaults of the platform, which nobody asked for. Pure.
 */
export function unsupportedRules(
  route: Route,
  { controller, hasTraefikKinds }: { readonly controller: Controller; readonly hasTraefikKinds: boolean },
  usual: RouteRules = {},
): readonly UnsupportedRule[] {
  const nowhere = { namespace: '', labels: {}, name: '', service: '', hasTraefikKinds }
  return mapRules(route, controller, nowhere).unsupported.filter(
    ({ rule }) => rule === 'rewrite' || rule === 'speaksHttp2' || !isDeepStrictEqual(route.rules?.[rule], usual[rule]),
  )
}

/** Without one of these rules, requests would reach what they must not, or fail. */
const indispensable: ReadonlySet<string> = new Set<UnsupportedRule['rule']>([
  'allow',
  'deny',
  'basicAuth',
  'signIn',
  'rewrite',
  'speaksHttp2',
])

/** Whether a route must not get requests while the rule is not applied. */
export const isIndispensable = ({ rule }: UnsupportedRule): boolean => indispensable.has(rule)

import type { TObject, TSchema, TString } from '@sinclair/typebox'
import type { AuditEvent } from './audit.ts'
import type { ProviderName } from './providers.ts'

/**
 * The permission that the caller needs on the target. All include read, admin includes all. Deploy
 * and write are independent.
 */
export type Access = 'read' | 'deploy' | 'write' | 'admin'
export const permissions = ['READ', 'DEPLOY', 'WRITE', 'ADMIN'] as const
export type Permission = (typeof permissions)[number]

/**
 * The object that the first id of a path names. It is loaded first, inside the caller's
 * organization.
 */
export type Target =
  | 'caller'
  | 'organization'
  | 'project'
  | 'environment'
  | 'service'
  | 'cluster'
  | 'stage'
  | 'variable'
  | 'deploymentRequest'

/** One operation of the API as data. The route, checks, types and document are computed from it. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The path with its parameters in braces. The first one names the target. */
  readonly path: string
  /** The function that handles it. Operations of several kinds share one. */
  readonly handler: string
  readonly target: Target
  readonly access: Access
  /** A second permission that the caller needs as well. */
  readonly alsoAccess?: Access
  /** Only the owner of the organization is permitted. If it has no owner, `access` decides. */
  readonly owner?: true
  /**
   * For projects: `access` for one mode of environments is enough here. The handler checks the
   * actual mode.
   */
  readonly someMode?: true
  /**
   * The query or the body names the place. Reading the target and `access` at any place is enough
   * here.
   */
  readonly elsewhere?: true
  readonly tag: string
  /**
   * The kind of service in the table of kinds. Without it, the target `service` may be of any kind.
   */
  readonly kind?: string
  /** The cloud provider in the table of providers. */
  readonly provider?: ProviderName
  readonly summary: string
  /** The public API does not have the operation. */
  readonly extension?: true
  readonly query?: TObject
  /** A string if `contentType` is not JSON. */
  readonly body?: TObject | TString
  /** Returns the short states of the specification, for clients that know no others (ADR 0003). */
  readonly shortStates?: true
  /** A higher limit for the body. */
  readonly maxBodyBytes?: number
  /** Also used to serialize, so that other fields cannot leak. */
  readonly reply: TSchema
  readonly status: 200 | 201 | 202 | 204
  /** Answers 204 without a body if there was nothing to do. */
  readonly mayBeEmpty?: true
  /** The type of the body and the response if it is not JSON. Their schemas are strings then. */
  readonly contentType?: 'application/x-yaml' | 'text/plain' | 'application/octet-stream'
  /** The audit event. Required for writes. A POST that only reads has `reads` instead. */
  readonly event?: AuditEvent
  readonly reads?: true
  /** The 200 response to `?dry_run=true`, which changes nothing. */
  readonly plan?: TSchema
  /** Why this platform always answers 400 to permitted callers. The handler is `refuse`. */
  readonly refuses?: string
}

/** Defines an operation and keeps its literal types. */
export const operation = <const O extends Operation>(definition: O): O => definition

/** Defines an operation with a part that depends on the kind, and keeps the type of that part. */
export const operationWith = <const P extends object, const O extends Operation>(part: P, definition: O): O & P => ({
  ...definition,
  ...part,
})

/** Turns `list{Kind}Secrets` with `Application` into `listApplicationSecrets`. */
export type Named<S, K extends string> = S extends `${infer A}{Kind}${infer B}` ? `${A}${K}${B}` : S

/**
 * Defines operations once for several nouns. `{Kind}` in their names becomes the noun.
 * The cast is the one place where a computed key meets its computed type.
 */
export function named<const T extends Record<string, Operation>, const K extends string>(noun: K, templates: T) {
  const entries = Object.entries(templates).map(([name, template]) => [name.replace('{Kind}', noun), template])
  return Object.fromEntries(entries) as { [N in keyof T as Named<N, K>]: T[N] }
}

/** Returns the names of the parameters of a path, in order. */
export const pathParameters = (path: string): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '')

/**
 * Returns the required fields of a body. Fields with a default are not. A body without any is
 * optional.
 */
export const requiredMembers = (body: TObject): string[] =>
  (body.required ?? []).filter((name) => !('default' in (body.properties[name] ?? {})))

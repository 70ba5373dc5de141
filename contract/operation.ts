import type { TObject, TSchema, TString } from '@sinclair/typebox'
import type { AuditEvent } from './audit.ts'
import type { ProviderName } from './providers.ts'

/** What the caller needs on the target. Read is part of every other one; deploy and write do not contain each other; admin contains all. */
export type Access = 'read' | 'deploy' | 'write' | 'admin'
export const permissions = ['READ', 'DEPLOY', 'WRITE', 'ADMIN'] as const
export type Permission = (typeof permissions)[number]

/** What the first id of a path names; the door loads it inside the caller's organization before anything else happens. */
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

/** One operation of the API, as data: the route, the checks, the types and the document are computed from it. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** With the parameters in braces; the first one names the target. */
  readonly path: string
  /** The function that answers; operations of several kinds share one. */
  readonly handler: string
  readonly target: Target
  readonly access: Access
  /** A second one that the caller needs as well, where one alone is not enough. */
  readonly alsoAccess?: Access
  /** Nobody but the owner of the organization may; while it has none, whoever has the access. */
  readonly owner?: true
  /** Of a project: the access for one mode of its environments is enough to come in; the room looks which mode is meant. */
  readonly someMode?: true
  /** The query or the body names the place: to come in, reading the target and the access at any place is enough. */
  readonly elsewhere?: true
  readonly tag: string
  /** Of an operation of one kind of service: its name in the table of kinds. Without it, the target `service` is of any kind. */
  readonly kind?: string
  /** Of an operation of one provider of clouds: its name in the table of providers. */
  readonly provider?: ProviderName
  readonly summary: string
  /** The public API does not have it. */
  readonly extension?: true
  readonly query?: TObject
  /** A text where `contentType` says so. */
  readonly body?: TObject | TString
  /** Its states are the short ones of the specification for clients that know no others (ADR 0003). Everything else answers full ones. */
  readonly shortStates?: true
  /** Of a body that may be larger than others. */
  readonly maxBodyBytes?: number
  /** Serialises too: what is not in it cannot leak. */
  readonly reply: TSchema
  readonly status: 200 | 201 | 202 | 204
  /** Answers 204 without a body if there was nothing to do. */
  readonly mayBeEmpty?: true
  /** Of the body and the answer, where it is another one than JSON: their schemas are texts then. */
  readonly contentType?: 'application/x-yaml' | 'text/plain' | 'application/octet-stream'
  /** What the record of changes says of it. Required of whatever writes; a POST that only reads has `reads` instead. */
  readonly event?: AuditEvent
  readonly reads?: true
  /** What `?dry_run=true` answers with 200 instead of doing it. */
  readonly plan?: TSchema
  /** Why this platform answers 400 to whoever may ask it; its handler is `refuse`. */
  readonly refuses?: string
}

/** Keeps the literal types of what it is given. */
export const operation = <const O extends Operation>(definition: O): O => definition

/** `list{Kind}Secrets` with `Application` is `listApplicationSecrets`. */
export type Named<S, K extends string> = S extends `${infer A}{Kind}${infer B}` ? `${A}${K}${B}` : S

/**
 * Operations written once for several nouns: `{Kind}` in their names becomes the noun.
 * The cast is the one place where a computed key meets its computed type.
 */
export function named<const T extends Record<string, Operation>, const K extends string>(noun: K, templates: T) {
  const entries = Object.entries(templates).map(([name, template]) => [name.replace('{Kind}', noun), template])
  return Object.fromEntries(entries) as { [N in keyof T as Named<N, K>]: T[N] }
}

/** Names of the parameters of a path, in order. */
export const pathParameters = (path: string): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '')

/** Returns the members that a body must have: one with a default need not be sent. A body without any is optional. */
export const requiredMembers = (body: TObject): string[] =>
  (body.required ?? []).filter((name) => !('default' in (body.properties[name] ?? {})))

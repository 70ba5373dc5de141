import type { Contract, HandlerName, OperationName, Static } from '@quayside/contract'
import type { Origin } from '@quayside/contract/enums.ts'
import type { Target } from '@quayside/contract/operation.ts'
import type { ProviderName } from '@quayside/contract/providers.ts'
import type { TNull, TSchema } from '@quayside/contract/schema.ts'
import type { KindName } from '@quayside/contract/services/kinds.ts'
import type { Caller, Membership } from '../access/index.ts'
import type { ClusterRow } from '../clusters/index.ts'
import type { StageRow } from '../environments/index.ts'
import type { RequestTargetRow } from '../history/index.ts'
import type { EnvironmentRow, OrganizationRow, ProjectRow } from '../organizations/index.ts'
import type { Dialect, RecordRequest } from '../requests/index.ts'
import type { ServiceRow } from '../services/index.ts'
import type { VariableTarget } from '../variables/index.ts'

/** What the first id of a path names, loaded inside the caller's organization. */
export interface TargetRows {
  readonly caller: undefined
  readonly organization: OrganizationRow
  readonly project: ProjectRow
  readonly environment: EnvironmentRow
  readonly service: ServiceRow
  readonly cluster: ClusterRow
  readonly stage: StageRow
  readonly variable: VariableTarget
  readonly deploymentRequest: RequestTargetRow
}

export type { RecordRequest } from '../requests/index.ts'

/** Where the request came from. */
export interface Client {
  readonly origin: Origin
  readonly dialect: Dialect
}

/** One authorised, validated request. */
export interface Call<T extends Target, Query, Body> {
  readonly caller: Caller
  /** Every organization of the caller; only for operations without a target. */
  readonly organizationIds: readonly string[]
  /** What the caller may in each organization: for `authorizeParent`. */
  readonly memberships: readonly Membership[]
  readonly target: TargetRows[T]
  /** Ids of the path after the first, in lower case; all of them where there is no target. */
  readonly ids: readonly string[]
  readonly query: Query
  readonly body: Body
  /** The kind of service that the operation is for, where it is for one. */
  readonly kind: KindName
  /** The provider of clouds that the operation is for, where it is for one. */
  readonly provider: ProviderName
  /**
   * The parameters of the path as they were sent, by their names: for those that are words and no
   * ids.
   */
  readonly words: Readonly<Record<string, string>>
  readonly client: Client
  /**
   * Writes the record of changes with the request that the handler accepts; see `RequestedBy`.
   * Others have it written for them.
   */
  readonly record?: RecordRequest
}

type With<H extends HandlerName> = {
  [N in OperationName]: Contract[N] extends { readonly handler: H } ? Contract[N] : never
}[OperationName]
type Parsed<O, Key extends 'query' | 'body'> = O extends Record<Key, infer S extends TSchema> ? Static<S> : undefined
type CallOf<O> = O extends { readonly target: infer T extends Target }
  ? Call<T, Parsed<O, 'query'>, Parsed<O, 'body'>>
  : never
type ReplyOf<O> = O extends { readonly status: 204 } | { readonly reply: TNull }
  ? undefined
  : O extends { readonly reply: infer S extends TSchema }
    ? DeepReadonly<Static<S>>
    : never

/** Handlers give what nobody changes any more. */
type DeepReadonly<T> = T extends Date
  ? T
  : T extends readonly (infer Item)[]
    ? readonly DeepReadonly<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
      : T

/**
 * A function for every handler name of the contract: what it gets and what it gives follow from the
 * operations.
 */
export type Handlers = {
  readonly [H in HandlerName]: (call: CallOf<With<H>>) => Promise<ReplyOf<With<H>> | undefined>
}

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

/** Row types of the objects that the first id of a path names, in the caller's organization. */
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

/** The client that sent the request. */
export interface Client {
  readonly origin: Origin
  readonly dialect: Dialect
}

/** An authorised and validated request. */
export interface Call<T extends Target, Query, Body> {
  readonly caller: Caller
  /** Every organization of the caller; only for operations without a target. */
  readonly organizationIds: readonly string[]
  /** The caller's rights in each organization, for `authorizeParent`. */
  readonly memberships: readonly Membership[]
  readonly target: TargetRows[T]
  /** Ids of the path in lower case, without the target's. */
  readonly ids: readonly string[]
  readonly query: Query
  readonly body: Body
  /** The kind of service that the operation is for, if any. */
  readonly kind: KindName
  /** The cloud provider that the operation is for, if any. */
  readonly provider: ProviderName
  /** The path parameters by name, as sent. For parameters that are not ids. */
  readonly words: Readonly<Record<string, string>>
  readonly client: Client
  /**
   * Writes the audit entry together with the request that the handler accepts; see `RequestedBy`.
   * Without it, the caller of the handler writes the entry.
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

/** Handlers return values that are not changed afterwards. */
type DeepReadonly<T> = T extends Date
  ? T
  : T extends readonly (infer Item)[]
    ? readonly DeepReadonly<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
      : T

/**
 * One function for every handler name of the contract. Its parameter and result types follow from
 * the operations.
 */
export type Handlers = {
  readonly [H in HandlerName]: (call: CallOf<With<H>>) => Promise<ReplyOf<With<H>> | undefined>
}

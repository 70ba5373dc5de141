import type { Contract, HandlerName, OperationName, Static } from '@quayside/contract'
import type { Origin } from '@quayside/contract/enums.ts'
import type { Target } from '@quayside/contract/operation.ts'
import type { TNull, TSchema } from '@quayside/contract/schema.ts'
import type { KindName } from '@quayside/contract/services/kinds.ts'
import type { Caller } from '../access/index.ts'
import type { Dialect } from '../deployments/index.ts'
import type { EnvironmentRow, OrganizationRow, ProjectRow } from '../organizations/index.ts'
import type { ServiceRow } from '../services/index.ts'

/** What the first id of a path names, loaded inside the caller's organization. */
export interface TargetRows {
  readonly caller: undefined
  readonly organization: OrganizationRow
  readonly project: ProjectRow
  readonly environment: EnvironmentRow
  readonly service: ServiceRow
  readonly cluster: never
  readonly stage: never
  readonly variable: never
  readonly deploymentRequest: never
}

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
  readonly target: TargetRows[T]
  /** Ids of the path after the first, in lower case. */
  readonly ids: readonly string[]
  readonly query: Query
  readonly body: Body
  /** The kind of service that the operation is for, where it is for one. */
  readonly kind: KindName
  readonly client: Client
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
    ? Static<S>
    : never

/** A function for every handler name of the contract: what it gets and what it gives follow from the operations. */
export type Handlers = {
  readonly [H in HandlerName]: (call: CallOf<With<H>>) => Promise<ReplyOf<With<H>> | undefined>
}

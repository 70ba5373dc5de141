/**
 * A typed client computed from the contract, with a function of the same name for every operation.
 */
import { contract } from '@quayside/contract'
import { type Client, type ClientOptions, createClientOf } from './client-of.ts'

export * from './client-of.ts'

/** Creates a client of the whole API. */
export const createClient = (options: ClientOptions): Client => createClientOf(contract, options)

import { AsyncLocalStorage } from 'node:async_hooks'

const current = new AsyncLocalStorage<string>()

/**
 * Runs `work` for an owner, such as an organization. It takes the owner's share of database
 * connections and of workers, so an owner with much slow work delays no other owner. Work without
 * an owner is the platform's own.
 */
export const withOwner = <T>(owner: string, work: () => T): T => current.run(owner, work)

/**
 * Runs `work` for the platform, also inside an owner's work: for what several owners wait for
 * together.
 */
export const withoutOwner = <T>(work: () => T): T => current.exit(work)

/** Returns the owner for whom the current work runs. */
export const currentOwner = (): string | undefined => current.getStore()

import { Resolver } from 'node:dns/promises'
import type { Resolved } from './domain-check.ts'

/** Looks up names in DNS, in one call for all of them. */
export type Resolve = (names: readonly string[], signal: AbortSignal) => Promise<readonly Resolved[]>

/** The DNS queries of this room. */
export interface NameServers {
  readonly resolve: Resolve
  /**
   * Returns a name's records of one type: CNAME targets in lower case without a trailing dot, or
   * texts. Empty if there are none. Throws if the signal is aborted before DNS answers.
   */
  readonly records: (type: 'CNAME' | 'TXT', name: string, signal: AbortSignal) => Promise<readonly string[]>
}

/** Error codes that mean that no such record exists. */
const absent = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME'])
const mostAtOnce = 10
const mostRecords = 50
const longestText = 500
/** The limit of each attempt at each name server. */
const patience = { timeout: 1500, tries: 2 } as const

/** Queries these name servers, `address` or `address:port`, or those of this machine if none. */
export function createNameServers(servers: readonly string[] = []): NameServers {
  const open = (): Resolver => {
    const resolver = new Resolver(patience)
    if (servers.length > 0) resolver.setServers([...servers])
    return resolver
  }
  return {
    resolve: (names, signal) => using(open(), signal, (resolver) => resolveAll(resolver, names, signal)),
    records: (type, name, signal) =>
      using(open(), signal, (resolver) => answered(signal, () => ask(resolver, type, name))),
  }
}

async function using<T>(resolver: Resolver, signal: AbortSignal, work: (resolver: Resolver) => Promise<T>): Promise<T> {
  const cancel = (): void => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    return await work(resolver)
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

async function resolveAll(resolver: Resolver, names: readonly string[], signal: AbortSignal): Promise<Resolved[]> {
  const results: Resolved[] = []
  for (let start = 0; start < names.length; start += mostAtOnce) {
    const some = names.slice(start, start + mostAtOnce)
    results.push(...(await Promise.all(some.map((name) => resolveName(resolver, name, signal)))))
  }
  return results
}

async function resolveName(resolver: Resolver, name: string, signal: AbortSignal): Promise<Resolved> {
  try {
    const questions = (['CNAME', 'A', 'AAAA'] as const).map((type) => answered(signal, () => ask(resolver, type, name)))
    const [[alias] = [], ...addresses] = await Promise.all(questions)
    return { addresses: addresses.flat(), ...(alias === undefined ? {} : { alias }) }
  } catch (error) {
    return { addresses: [], failure: failureText(error, signal) }
  }
}

/** Returns why DNS has no answer. */
export const failureText = (error: unknown, signal: AbortSignal): string =>
  signal.aborted ? 'DNS did not answer in time.' : `DNS could not be asked (${codeOf(error)}).`

async function ask(resolver: Resolver, type: 'CNAME' | 'TXT' | 'A' | 'AAAA', name: string): Promise<string[]> {
  if (type === 'TXT') return (await resolver.resolveTxt(name)).map((chunks) => chunks.join(''))
  const records = type === 'CNAME' ? await resolver.resolveCname(name) : await resolver.resolve(name, type)
  return type === 'CNAME' ? records.map((record) => record.toLowerCase().replace(/\.$/, '')) : records
}

/** Returns records up to the limits that anything reads. The absence of records is an answer. */
async function answered(signal: AbortSignal, question: () => Promise<string[]>): Promise<string[]> {
  signal.throwIfAborted()
  try {
    return (await question()).slice(0, mostRecords).filter((record) => record.length <= longestText)
  } catch (error) {
    if (absent.has(codeOf(error))) return []
    throw error
  }
}

const codeOf = (error: unknown): string => String(Object(error)['code'] ?? 'unknown')

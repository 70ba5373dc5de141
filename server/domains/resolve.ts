import { Resolver } from 'node:dns/promises'
import type { Resolved } from './domain-check.ts'

/** Asks DNS for names; one call for all of them. */
export type Resolve = (names: readonly string[], signal: AbortSignal) => Promise<readonly Resolved[]>

const absent = new Set(['ENOTFOUND', 'ENODATA'])
const mostAtOnce = 10

/** Asks the name servers of this machine. What is not known when the signal is aborted counts as a failure. */
export const resolveNames: Resolve = async (names, signal) => {
  const resolver = new Resolver()
  const cancel = (): void => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const results: Resolved[] = []
    for (let start = 0; start < names.length; start += mostAtOnce) {
      const some = names.slice(start, start + mostAtOnce)
      results.push(...(await Promise.all(some.map((name) => resolveName(resolver, name, signal)))))
    }
    return results
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

async function resolveName(resolver: Resolver, name: string, signal: AbortSignal): Promise<Resolved> {
  try {
    const ask = (type: 'CNAME' | 'A' | 'AAAA') => answered(signal, () => resolver.resolve(name, type))
    const [aliases, four, six] = await Promise.all([ask('CNAME'), ask('A'), ask('AAAA')])
    const alias = aliases[0]?.toLowerCase().replace(/\.$/, '')
    return { addresses: [...four, ...six], ...(alias === undefined ? {} : { alias }) }
  } catch (error) {
    const reason = signal.aborted ? 'DNS did not answer in time.' : `DNS could not be asked (${codeOf(error)}).`
    return { addresses: [], failure: reason }
  }
}

/** That there is no such record is an answer. */
async function answered(signal: AbortSignal, ask: () => Promise<unknown>): Promise<string[]> {
  signal.throwIfAborted()
  try {
    const records = await ask()
    return Array.isArray(records) ? records.filter((record) => typeof record === 'string') : []
  } catch (error) {
    if (absent.has(codeOf(error))) return []
    throw error
  }
}

const codeOf = (error: unknown): string => String(Object(error)['code'] ?? 'unknown')

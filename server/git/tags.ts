import type { Place } from './locate.ts'
import { isBranchName } from './names.ts'
import { maxListing } from './questions.ts'
import type { RemoteRepository } from './remote-repository.ts'

/** The tag of each tagged commit. */
export type Tags = ReadonlyMap<string, string>

/**
 * Reads the tags of a repository. If a server does not list them, commits have no tags and nothing
 * fails.
 */
export async function readTags(server: RemoteRepository, place: Place, signal: AbortSignal): Promise<Tags> {
  const { program, limits } = server
  const question = { signal, timeoutMs: limits.questionMs, maxBytes: maxListing }
  const asked =
    typeof place === 'string'
      ? { args: ['for-each-ref', format, 'refs/tags/'], gitDirectory: place }
      : { args: ['ls-remote', '--tags', '--end-of-options', place.url.href], remote: place }
  try {
    return await chooseTags((await program.run({ ...question, ...asked })).stdout.toString())
  } catch {
    signal.throwIfAborted()
    return new Map()
  }
}

/** As written by `ls-remote`: an annotated tag has a second line with the commit. */
const format = '--format=%(objectname)%09%(refname)%(if)%(*objectname)%(then)%0a%(*objectname)%09%(refname)^{}%(end)'

/** Number of tags to read before other work gets a turn. */
const mostInTurn = 2_000

/** Passes the items on and regularly lets other work run. */
async function* inTurns<T>(items: Iterable<T>): AsyncGenerator<T> {
  let count = 0
  for (const item of items) {
    if (++count % mostInTurn === 0) await new Promise((resolve) => setImmediate(resolve))
    yield item
  }
}

/**
 * Returns the tag of each commit: of several the highest version, and without versions the last one
 * by name. A server may have several hundred thousand tags.
 */
export async function chooseTags(output: string): Promise<Tags> {
  const commits = new Map<string, string>()
  for await (const line of inTurns(output.split('\n'))) {
    const [id = '', ref = ''] = line.split('\t')
    if (!/^[0-9a-f]{40,64}$/.test(id) || !ref.startsWith(prefix)) continue
    // The line of the commit follows that of the tag object.
    const name = ref.slice(prefix.length).replace(/\^\{\}$/, '')
    if (isBranchName(name)) commits.set(name, id)
  }
  const tags = new Map<string, string>()
  for await (const [name, id] of inTurns(commits)) {
    const other = tags.get(id)
    if (other === undefined || compareTags(name, other) > 0) tags.set(id, name)
  }
  return tags
}
const prefix = 'refs/tags/'

/** Versions rank above other names, and a release above its prereleases. */
function compareTags(one: string, other: string): number {
  const [a, b] = [versionOf(one), versionOf(other)]
  if (a && b) {
    const numbers = a.numbers.map((number, index) => number - (b.numbers[index] ?? 0)).find((difference) => difference)
    if (numbers !== undefined) return numbers
    if (a.early === '' || b.early === '') return (a.early === '' ? 1 : 0) - (b.early === '' ? 1 : 0)
    return collator.compare(a.early, b.early)
  }
  if (a || b) return a ? 1 : -1
  return collator.compare(one, other)
}
const collator = new Intl.Collator('en', { numeric: true })

function versionOf(name: string): { readonly numbers: readonly number[]; readonly early: string } | undefined {
  const found = /^v?(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/.exec(name)
  if (!found) return undefined
  const [, major = '0', minor = '0', patch = '0', early = ''] = found
  return { numbers: [major, minor, patch].map(Number), early }
}

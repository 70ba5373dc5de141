import { ForeignJsonProblem, parseForeign } from '../../../lib/foreign-json.ts'
import { kindOfStatus, RegistryProblem } from '../registry-problem.ts'
import { readWhole, saidIn } from './answers.ts'
import type { RegistryClient } from './client.ts'
import { isDigest, manifestTypes } from './manifest.ts'

const pageSize = 1000
const mostPages = 100
const pageBytes = 1024 * 1024
/** Answers of a registry that removes nothing, or nothing for this account. */
const removesNothing = new Set([401, 403, 405])

/** Lists the tags of a repository, at most 100,000. Throws RegistryProblem. */
export async function listTags(client: RegistryClient, signal: AbortSignal): Promise<readonly string[]> {
  const tags = new Set<string>()
  for (let page = 0, last = ''; page < mostPages; page++) {
    const found = await readPage(client, last, signal)
    const before = tags.size
    for (const tag of found) tags.add(tag)
    if (found.length < pageSize || tags.size === before) break
    last = found.at(-1) ?? ''
  }
  return [...tags]
}

async function readPage(client: RegistryClient, last: string, signal: AbortSignal): Promise<string[]> {
  const query = new URLSearchParams({ n: String(pageSize), ...(last !== '' && { last }) })
  try {
    await using answer = await client.ask({ path: `tags/list?${query}`, signal })
    const { tags } = Object(parseForeign(await readWhole(answer, pageBytes)))
    return Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : []
  } catch (error) {
    if (error instanceof RegistryProblem && error.kind === 'absent') return []
    if (error instanceof ForeignJsonProblem)
      throw new RegistryProblem('form', `its list of tags ${error.message}`, { cause: error })
    throw error
  }
}

/**
 * Removes the manifest of a tag, and with it every tag that names it. Does nothing if the registry
 * removes none. Throws RegistryProblem.
 */
export async function removeTag(client: RegistryClient, tag: string, signal: AbortSignal): Promise<void> {
  const digest = await digestOf(client, tag, signal)
  if (digest === undefined) return
  await using answer = await client.send({ method: 'DELETE', path: `manifests/${digest}`, signal })
  if (answer.status < 300 || answer.status === 404 || removesNothing.has(answer.status)) return
  throw new RegistryProblem(kindOfStatus(answer.status), await saidIn(answer))
}

async function digestOf(client: RegistryClient, tag: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const headers = { accept: manifestTypes }
    await using answer = await client.ask({ method: 'HEAD', path: `manifests/${tag}`, headers, signal })
    const digest = answer.headers['docker-content-digest']
    return digest !== undefined && isDigest(digest) ? digest : undefined
  } catch (error) {
    if (error instanceof RegistryProblem && error.kind === 'absent') return undefined
    throw error
  }
}

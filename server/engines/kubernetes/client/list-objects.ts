import type { KubeConnection, KubeRequest } from './connection.ts'
import { isObject } from './is-object.ts'
import { isKubeError, KubeError } from './kube-error.ts'
import type { KubeObject } from './objects.ts'

export interface KubeList<T> {
  readonly items: readonly T[]
  readonly resourceVersion: string
}

/** A page of many small objects. Pages of large objects are shorter. */
const usualPage = 100
/** More objects of one kind are not kept. */
export const mostObjects = 20_000
const mostPages = 1_000
const mostCharacters = 64 * 1024 * 1024

/**
 * Lists objects in pages. A page that is too long is asked for again with a tenth of its objects.
 * Throws KubeError; `TooLong` if the list does not end or is too long to keep, because the server
 * may belong to somebody who wants that.
 */
export async function listObjects<T extends KubeObject>(
  connection: Pick<KubeConnection, 'sized'>,
  { path, query, accept }: Pick<KubeRequest, 'path' | 'query' | 'accept'>,
  signal: AbortSignal,
): Promise<KubeList<T>> {
  const items: T[] = []
  let [limit, characters, pages, next] = [usualPage, 0, 0, '']
  for (;;) {
    const wish = { path, accept, query: { ...query, limit, continue: next || undefined } }
    const answer = await connection.sized(wish, signal).catch((error: unknown) => {
      if (limit > 1 && isKubeError(error, 'TooLong')) return undefined
      throw error
    })
    if (!answer) {
      limit /= 10
      continue
    }
    const page = pageOf<T>(answer.value, path)
    for (const item of page.items) items.push(item)
    characters += answer.length
    if (page.next === '') return { items, resourceVersion: page.resourceVersion }
    if (items.length > mostObjects || characters > mostCharacters || ++pages > mostPages) {
      throw new KubeError(0, 'TooLong', `the API server has too many objects at ${path}`)
    }
    next = page.next
  }
}

function pageOf<T extends KubeObject>(answer: unknown, path: string) {
  const { items, metadata } = Object(answer)
  const { resourceVersion, continue: next } = Object(metadata)
  // A list of metadata without objects has null.
  const all: unknown = items === null ? [] : items
  if (!Array.isArray(all) || !all.every(isObject))
    throw new KubeError(0, 'Unreadable', `the answer to ${path} is not a list of objects`)
  // The kind of items is that of the path, and they do not repeat it.
  return { items: all as T[], resourceVersion: String(resourceVersion ?? ''), next: String(next ?? '') }
}

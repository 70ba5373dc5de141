import { AppError } from '../lib/error.ts'
import { createAsk, parseJson } from '../lib/outside.ts'
import type { SafeFetch } from '../lib/safe-fetch.ts'
import type { Secret } from '../lib/secret.ts'
import { type ListedRepository, type ProviderApi, providerApis } from './apis.ts'

export type { ListedRepository } from './apis.ts'

/** A stored git token, opened. */
export interface ProviderToken {
  readonly type: 'GITHUB' | 'GITLAB' | 'BITBUCKET'
  /** The host of the token. */
  readonly git_api_url: string
  readonly workspace: string | null
  readonly token: Secret
}

const maxBytes = 4 * 1024 * 1024
const pageSize = 100
const mostPages = 5
const repositoryName = /^[\w.-]{1,255}(?:\/[\w.-]{1,255}){1,20}$/

export function createGitProviders(safeFetch: SafeFetch) {
  const ask = createAsk(safeFetch)

  /** Reads pages until one is not full. Throws AppError `invalid` with the host's name. */
  async function list(token: ProviderToken, path: string, signal: AbortSignal): Promise<Record<string, unknown>[]> {
    const api = providerApis[token.type]
    const base = api.base(new URL(token.git_api_url))
    const found: Record<string, unknown>[] = []
    for (let page = 1; page <= mostPages; page++) {
      const url = new URL(`${base}${path}&page=${page}`)
      const headers = {
        authorization: `Bearer ${token.token.reveal()}`,
        accept: 'application/json',
        'user-agent': 'Quayside',
      }
      const answer = await ask(url, { headers, maxBytes, signal })
      if (answer.status !== 200) throw refused(url, answer.status)
      const items = itemsOf(api, parseJson(url, answer))
      found.push(...items)
      if (items.length < pageSize) break
    }
    return found
  }

  return {
    /** Lists at most 500 repositories, the latest first if the provider sorts them so. */
    async repositories(token: ProviderToken, signal: AbortSignal): Promise<ListedRepository[]> {
      const api = providerApis[token.type]
      const items = await list(token, api.repositories(token.workspace), signal)
      return items.map(api.repository).filter(({ name, url }) => name !== '' && url !== '')
    },

    /** Lists at most 500 branch names of a repository such as `team/shop`. */
    async branches(token: ProviderToken, name: string, signal: AbortSignal): Promise<string[]> {
      if (!repositoryName.test(name) || name.split('/').some((part) => /^\.+$/.test(part))) {
        throw new AppError('invalid', 'name must be a repository with its owner, such as team/shop.')
      }
      const items = await list(token, providerApis[token.type].branches(name), signal)
      return items.map((item) => item['name']).filter((branch) => typeof branch === 'string')
    },
  }
}

function itemsOf(api: ProviderApi, answer: unknown): Record<string, unknown>[] {
  const items = api.items(answer)
  return Array.isArray(items) ? items.filter((item) => typeof item === 'object' && item !== null) : []
}

function refused({ host }: URL, status: number): AppError {
  if (status === 401 || status === 403 || status === 404) {
    return new AppError(
      'invalid',
      `${host} denied the request (status ${status}): check the git token, its rights and the name.`,
    )
  }
  return new AppError('invalid', `${host} answered with status ${status}, where 200 was expected.`)
}

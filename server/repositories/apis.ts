import { withoutEnd } from '../lib/trim.ts'
/** A repository as its provider lists it. */
export interface ListedRepository {
  readonly id: string
  /** With its owner: `team/shop`. */
  readonly name: string
  readonly url: string
  readonly default_branch?: string
  readonly is_private?: boolean
}

/** The differences between the providers: addresses, paths, and the form of an item. */
export interface ProviderApi {
  /** The API's address for a host with the address `https://host` (or a path below it). */
  base(address: URL): string
  repositories(workspace: string | null): string
  /** `name` as ListedRepository has it. */
  branches(name: string): string
  /** Returns the list of an answer, which is an object with a list or the list itself. */
  items(answer: unknown): unknown
  repository(item: Readonly<Record<string, unknown>>): ListedRepository
}

const below = (address: URL): string => withoutEnd(address.href, '/')
/** Adds the version of the API unless the address has it already. */
const versioned = (address: URL, version: string): string =>
  below(address).endsWith(version) ? below(address) : `${below(address)}${version}`
const text = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '')
const defaultBranchOf = (value: unknown) => (typeof value === 'string' && value !== '' ? { default_branch: value } : {})
const encoded = (name: string): string => name.split('/').map(encodeURIComponent).join('/')

export const providerApis: Readonly<Record<'GITHUB' | 'GITLAB' | 'BITBUCKET', ProviderApi>> = {
  GITHUB: {
    base: (address) =>
      /^(?:api\.)?github\.com$/.test(address.hostname) ? 'https://api.github.com' : versioned(address, '/api/v3'),
    repositories: () => '/user/repos?sort=updated&per_page=100',
    branches: (name) => `/repos/${encoded(name)}/branches?per_page=100`,
    items: (answer) => answer,
    repository: (item) => ({
      id: text(item['id']),
      name: text(item['full_name']),
      url: text(item['clone_url']),
      ...defaultBranchOf(item['default_branch']),
      is_private: item['private'] === true,
    }),
  },
  GITLAB: {
    base: (address) => versioned(address, '/api/v4'),
    repositories: () => '/projects?membership=true&simple=false&order_by=last_activity_at&per_page=100',
    branches: (name) => `/projects/${encodeURIComponent(name)}/repository/branches?per_page=100`,
    items: (answer) => answer,
    repository: (item) => ({
      id: text(item['id']),
      name: text(item['path_with_namespace']),
      url: text(item['http_url_to_repo']),
      ...defaultBranchOf(item['default_branch']),
      is_private: item['visibility'] !== 'public',
    }),
  },
  BITBUCKET: {
    base: (address) =>
      /^(?:api\.)?bitbucket\.org$/.test(address.hostname)
        ? 'https://api.bitbucket.org/2.0'
        : versioned(address, '/2.0'),
    repositories: (workspace) => `/repositories/${encoded(workspace ?? '')}?pagelen=100`,
    branches: (name) => `/repositories/${encoded(name)}/refs/branches?pagelen=100`,
    items: (answer) => Object(answer).values,
    repository: (item) => ({
      id: text(item['uuid']),
      name: text(item['full_name']),
      url: httpsAddress(Object(item['links']).clone),
      ...defaultBranchOf(Object(item['mainbranch']).name),
      is_private: item['is_private'] === true,
    }),
  },
}

/** Returns the https address for cloning, without the user name that Bitbucket adds. */
function httpsAddress(links: unknown): string {
  const found: unknown = Array.isArray(links) ? links.find((link) => /^https?$/.test(Object(link).name)) : undefined
  const url = URL.parse(text(Object(found).href))
  if (!url) return ''
  url.username = ''
  return url.href
}

import { isBranchName } from '../git/index.ts'
import type { WebhookProvider } from './git-webhook-store.ts'

/** A branch that a provider says was pushed. */
export interface ToldPush {
  readonly branch: string
  readonly before: string | undefined
  readonly commit: string
  readonly pusher: string
  /** Where the provider lists every changed file. */
  readonly paths?: readonly string[] | undefined
}

/** What a message says, or why nothing follows from it. */
export type Told =
  | { readonly addresses: readonly string[]; readonly pushes: readonly ToldPush[] }
  | { readonly ignored: string }

/** The event of each provider that tells of pushed branches. */
export const pushEvents: Readonly<Record<WebhookProvider, string>> = {
  GITHUB: 'push',
  GITLAB: 'Push Hook',
  BITBUCKET: 'repo:push',
}

/**
 * Pure: what the body of a push event says. Never throws: of what is not there or is something else, the rest counts, and what makes
 * no push is ignored.
 *
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads#push
 * https://docs.gitlab.com/user/project/integrations/webhook_events/#push-events
 * https://support.atlassian.com/bitbucket-cloud/docs/event-payloads/#Push
 */
export const readPayload = (provider: WebhookProvider, body: unknown): Told => readers[provider](body)

const readers: Readonly<Record<WebhookProvider, (body: unknown) => Told>> = {
  GITHUB: (body) => {
    const repository = at(body, 'repository')
    const pusher = text(at(body, 'pusher', 'name')) ?? text(at(body, 'head_commit', 'author', 'name'))
    const told = readBranch(at(body, 'ref'), at(body, 'before'), at(body, 'after'), pusher)
    if ('ignored' in told) return told
    const addresses = ['clone_url', 'ssh_url', 'html_url'].map((name) => at(repository, name))
    const isWhole = at(body, 'forced') === false && at(body, 'created') === false
    const paths = isWhole ? listedPaths(at(body, 'commits')) : undefined
    return whole(addresses, [{ ...told, paths }])
  },
  GITLAB: (body) => {
    const project = at(body, 'project')
    const pusher = text(at(body, 'user_name')) ?? text(at(body, 'user_username'))
    const told = readBranch(at(body, 'ref'), at(body, 'before'), at(body, 'after'), pusher)
    if ('ignored' in told) return told
    const addresses = ['git_http_url', 'git_ssh_url', 'web_url'].map((name) => at(project, name))
    // At most 20 commits are listed, and those that a forced push drops are not: git knows better.
    return whole(addresses, [told])
  },
  BITBUCKET: (body) => {
    const actor = at(body, 'actor')
    const pusher = text(at(actor, 'display_name')) ?? text(at(actor, 'nickname'))
    const changes = list(at(body, 'push', 'changes')).slice(0, mostBranches)
    const told = changes.map((change) => readChange(change, pusher))
    const pushes = told.flatMap((one) => ('ignored' in one ? [] : [one]))
    if (pushes.length === 0) return { ignored: 'It tells of no branch that was pushed.' }
    return whole([at(body, 'repository', 'links', 'html', 'href')], pushes)
  },
}

/** Of one push; Bitbucket lists all branches in one message. */
const mostBranches = 100
/** Commits that GitHub lists at most; a list of so many may have been cut. */
const mostCommits = 2000
/** Files of one commit, and of all: lists that are longer may have been cut, and are not kept. */
const mostFiles = 300
const mostPaths = 3000

function readChange(change: unknown, pusher: string | undefined): ToldPush | { readonly ignored: string } {
  const after = at(change, 'new')
  if (at(after, 'type') !== 'branch') return { ignored: 'It is no branch.' }
  const before = at(change, 'old', 'target', 'hash')
  const author = text(at(after, 'target', 'author', 'raw'))
    ?.split('<', 1)[0]
    ?.trimEnd()
  return readBranch(
    `refs/heads/${text(at(after, 'name')) ?? ''}`,
    before,
    at(after, 'target', 'hash'),
    pusher ?? author,
  )
}

function readBranch(
  ref: unknown,
  before: unknown,
  after: unknown,
  pusher: string | undefined,
): ToldPush | { readonly ignored: string } {
  const branch = /^refs\/heads\/(.+)$/.exec(text(ref) ?? '')?.[1]
  if (branch === undefined || !isBranchName(branch)) return { ignored: 'It tells of no branch that could be deployed.' }
  if (/^0+$/.test(text(after) ?? '')) return { ignored: 'The branch was deleted.' }
  const commit = commitId(after)
  if (commit === undefined) return { ignored: 'It names no commit.' }
  const name = (pusher ?? 'Somebody').replace(/\p{Cc}/gu, ' ').slice(0, 200)
  return { branch, before: commitId(before), commit, pusher: name }
}

function whole(addresses: readonly unknown[], pushes: readonly ToldPush[]): Told {
  const known = addresses.flatMap((address) => text(address) ?? [])
  return known.length === 0 ? { ignored: 'It names no repository.' } : { addresses: known, pushes }
}

/** Undefined where the lists may not be whole. */
function listedPaths(commits: unknown): readonly string[] | undefined {
  const all = list(commits)
  if (!Array.isArray(commits) || all.length >= mostCommits) return undefined
  const paths = new Set<string>()
  for (const commit of all) {
    const lists = ['added', 'removed', 'modified'].map((name) => at(commit, name))
    if (!lists.every(Array.isArray)) return undefined
    const files = lists.flatMap(list)
    if (files.length >= mostFiles) return undefined
    for (const file of files) {
      if (typeof file !== 'string') return undefined
      paths.add(file)
    }
    if (paths.size > mostPaths) return undefined
  }
  return [...paths]
}

/** A member of a member …; undefined where there is none. */
function at(value: unknown, ...names: readonly string[]): unknown {
  let inner = value
  for (const name of names) {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, name)) return undefined
    // An object that has a member of that name.
    inner = (inner as Readonly<Record<string, unknown>>)[name]
  }
  return inner
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Texts that a database takes: no U+0000, no half of a surrogate pair, not endless. */
const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= 4096 && value.isWellFormed() && !value.includes('\0')
    ? value
    : undefined

/** A full commit id; undefined for others, and for zeros, which stand for none. */
function commitId(value: unknown): string | undefined {
  const id = text(value) ?? ''
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(id) && !/^0+$/.test(id) ? id : undefined
}

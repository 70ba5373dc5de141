import { isUtf8 } from 'node:buffer'
import { isBranchName } from '../git/index.ts'
import { ForeignJsonProblem, type ForeignReader, foreignTask, NotJson, parseFar } from '../lib/foreign-json.ts'
import type { WebhookProvider } from './git-webhook-store.ts'

/** A pushed branch, as a provider reports it. */
export interface ToldPush {
  readonly branch: string
  readonly before: string | undefined
  readonly commit: string
  readonly pusher: string
  /** The address where the provider lists every changed file. */
  readonly paths?: readonly string[] | undefined
}

/** The meaning of a message, or the reason why it is ignored. */
export type Told =
  | { readonly addresses: readonly string[]; readonly pushes: readonly ToldPush[] }
  | { readonly ignored: string }

/** The event with which each provider reports pushed branches. */
export const pushEvents: Readonly<Record<WebhookProvider, string>> = {
  GITHUB: 'push',
  GITLAB: 'Push Hook',
  BITBUCKET: 'repo:push',
}

/**
 * Reads the body of a push event. It never throws: missing or malformed parts are skipped, and a
 * body without a push is ignored.
 *
 *
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads#push
 * https://docs.gitlab.com/user/project/integrations/webhook_events/#push-events
 * https://support.atlassian.com/bitbucket-cloud/docs/event-payloads/#Push
 */
export const readPayload = (provider: WebhookProvider, body: unknown): Told => readers[provider](body)

/**
 * Reads the JSON of a push event leniently: the sender knows the secret, and providers differ.
 * Throws ForeignJsonProblem.
 */
function readMessage(json: Uint8Array, provider: WebhookProvider): Told {
  if (!isUtf8(json)) throw new ForeignJsonProblem(notJson)
  // A byte order mark is no part of the text.
  const hasMark = json[0] === 0xef && json[1] === 0xbb && json[2] === 0xbf
  try {
    return readPayload(provider, parseFar(hasMark ? json.subarray(3) : json))
  } catch (error) {
    if (!(error instanceof NotJson)) throw error
    throw new ForeignJsonProblem(notJson)
  }
}

const notJson = 'is not JSON in UTF-8: choose the content type application/json at the provider'

/** Runs in a worker for a long message. */
export const messageTask = foreignTask(readMessage)
export const payloadReader: ForeignReader<WebhookProvider, Told> = {
  module: new URL(import.meta.url),
  name: 'messageTask',
  task: messageTask,
}

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
    // Bitbucket lists at most 20 commits and none that a forced push drops, so git computes the
    // changes.
    return whole(addresses, [told])
  },
  BITBUCKET: (body) => {
    const actor = at(body, 'actor')
    const pusher = text(at(actor, 'display_name')) ?? text(at(actor, 'nickname'))
    const changes = list(at(body, 'push', 'changes')).slice(0, mostBranches)
    const told = changes.map((change) => readChange(change, pusher))
    const pushes = told.flatMap((one) => ('ignored' in one ? [] : [one]))
    if (pushes.length === 0) return { ignored: 'It reports no pushed branch.' }
    return whole([at(body, 'repository', 'links', 'html', 'href')], pushes)
  },
}

/** Reads one push. Bitbucket lists all branches in one message. */
const mostBranches = 100
/** Maximum number of commits that GitHub lists. A list of this length may be truncated. */
const mostCommits = 2000
/**
 * Maximum number of files of one commit, and of all. Longer lists may be truncated and are dropped.
 */
const mostFiles = 300
const mostPaths = 3000
/** Characters of all paths. The database keeps them with the push. */
const mostPathText = 2 ** 20

function readChange(change: unknown, pusher: string | undefined): ToldPush | { readonly ignored: string } {
  const after = at(change, 'new')
  if (at(after, 'type') !== 'branch') return { ignored: 'It is not a branch.' }
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
  if (branch === undefined || !isBranchName(branch)) return { ignored: 'It reports no branch that can be deployed.' }
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

/** Returns undefined if the lists may be incomplete. */
function listedPaths(commits: unknown): readonly string[] | undefined {
  const all = list(commits)
  if (!Array.isArray(commits) || all.length >= mostCommits) return undefined
  const paths = new Set<string>()
  let left = mostPathText
  for (const commit of all) {
    const lists = ['added', 'removed', 'modified'].map((name) => at(commit, name))
    if (!lists.every(Array.isArray)) return undefined
    const files = lists.flatMap(list)
    if (files.length >= mostFiles) return undefined
    for (const file of files) {
      if (typeof file !== 'string') return undefined
      if (!paths.has(file)) left -= file.length
      paths.add(file)
    }
    if (paths.size > mostPaths || left < 0) return undefined
  }
  return [...paths]
}

/** Returns a nested member, or undefined if it does not exist. */
function at(value: unknown, ...names: readonly string[]): unknown {
  let inner = value
  for (const name of names) {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, name)) return undefined
    // Only the object's own member.
    inner = (inner as Readonly<Record<string, unknown>>)[name]
  }
  return inner
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Returns texts that a database accepts: no U+0000, no unpaired surrogate, of limited length. */
const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= 4096 && value.isWellFormed() && !value.includes('\0')
    ? value
    : undefined

/** Returns a full commit id. Undefined for other texts, and for zeros, which mean no commit. */
function commitId(value: unknown): string | undefined {
  const id = text(value) ?? ''
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(id) && !/^0+$/.test(id) ? id : undefined
}

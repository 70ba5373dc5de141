import { createHmac, randomUUID } from 'node:crypto'

/**
 * A message of a git provider, as the provider's documentation shows it, without irrelevant fields.
 */
export interface ProviderMessage {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface PushFacts {
  /** `acme/shop`. */
  readonly repository: string
  readonly branch?: string
  readonly before?: string
  readonly after: string
  readonly pusher?: string
  /** Names of changed files. */
  readonly files?: readonly string[]
  readonly forced?: boolean
  /** Members that override those of the usual body. */
  readonly change?: Readonly<Record<string, unknown>>
}

export const zeros = '0'.repeat(40)
/** Returns a recognizable commit id. */
export const commitOf = (letter: string): string => letter.repeat(40)

const json = { 'content-type': 'application/json' }
const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text)

type Send = (facts: PushFacts, secret: string, headers?: Readonly<Record<string, string>>) => ProviderMessage

function githubBody({
  repository,
  branch = 'main',
  before = zeros,
  after,
  pusher = 'ada',
  files = [],
  forced = false,
  change,
}: PushFacts): string {
  const commit = {
    id: after,
    message: 'A change',
    author: { name: 'Ada', email: 'ada@example.org' },
    added: files,
    removed: [],
    modified: [],
  }
  return JSON.stringify({
    ref: `refs/heads/${branch}`,
    before,
    after,
    created: before === zeros,
    deleted: after === zeros,
    forced,
    repository: {
      full_name: repository,
      clone_url: `https://github.com/${repository}.git`,
      ssh_url: `git@github.com:${repository}.git`,
      html_url: `https://github.com/${repository}`,
      pushed_at: 1_700_000_000,
    },
    pusher: { name: pusher, email: 'ada@example.org' },
    commits: after === zeros ? [] : [commit],
    head_commit: after === zeros ? null : commit,
    ...change,
  })
}

export const github: Send = (facts, secret, headers) => {
  const body = githubBody(facts)
  return {
    body,
    headers: {
      ...json,
      'x-github-event': 'push',
      'x-github-delivery': randomUUID(),
      'x-hub-signature': `sha1=${createHmac('sha1', secret).update(body).digest('hex')}`,
      'x-hub-signature-256': `sha256=${hmac(secret, body).digest('hex')}`,
      ...headers,
    },
  }
}

function gitlabBody({ repository, branch = 'main', before = zeros, after, pusher = 'Ada', change }: PushFacts): string {
  return JSON.stringify({
    object_kind: 'push',
    event_name: 'push',
    before,
    after,
    ref: `refs/heads/${branch}`,
    checkout_sha: after,
    user_name: pusher,
    user_username: 'ada',
    project: {
      path_with_namespace: repository,
      git_http_url: `https://gitlab.com/${repository}.git`,
      git_ssh_url: `git@gitlab.com:${repository}.git`,
      web_url: `https://gitlab.com/${repository}`,
      default_branch: 'main',
    },
    commits: [],
    total_commits_count: 25,
    ...change,
  })
}

export const gitlab: Send = (facts, secret, headers) => ({
  body: gitlabBody(facts),
  headers: {
    ...json,
    'x-gitlab-event': 'Push Hook',
    'x-gitlab-token': secret,
    'x-gitlab-event-uuid': randomUUID(),
    'idempotency-key': randomUUID(),
    ...headers,
  },
})

/** Returns a message signed with a signing token. `seconds` is its time of sending. */
export function gitlabSigned(facts: PushFacts, secret: string, seconds: number): ProviderMessage {
  const [body, id] = [gitlabBody(facts), randomUUID()]
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')
  return {
    body,
    headers: {
      ...json,
      'x-gitlab-event': 'Push Hook',
      'idempotency-key': id,
      'webhook-id': id,
      'webhook-timestamp': `${seconds}`,
      'webhook-signature': `v1,${signature}`,
    },
  }
}

export const bitbucket: Send = (
  { repository, branch = 'main', before, after, pusher = 'Ada', change },
  secret,
  headers,
) => {
  const head = (hash: string) => ({
    type: 'branch',
    name: branch,
    target: { type: 'commit', hash, author: { raw: 'Ada <ada@example.org>' } },
  })
  const body = JSON.stringify({
    actor: { display_name: pusher, nickname: 'ada' },
    repository: { full_name: repository, links: { html: { href: `https://bitbucket.org/${repository}` } } },
    push: {
      changes: [
        {
          old: before ? head(before) : null,
          new: after === zeros ? null : head(after),
          created: !before,
          closed: after === zeros,
          forced: false,
          truncated: false,
          commits: [],
        },
      ],
    },
    ...change,
  })
  return {
    body,
    headers: {
      ...json,
      'x-event-key': 'repo:push',
      'x-request-uuid': randomUUID(),
      'x-hub-signature': `sha256=${hmac(secret, body).digest('hex')}`,
      ...headers,
    },
  }
}

export const senders = { GITHUB: github, GITLAB: gitlab, BITBUCKET: bitbucket } as const
export const hosts = { GITHUB: 'github.com', GITLAB: 'gitlab.com', BITBUCKET: 'bitbucket.org' } as const

import { gitProviders } from '../enums.ts'
import { operation } from '../operation.ts'
import { Enum, Results, Text, Timestamp, Type, Uuid } from '../schema.ts'
import type { KindName } from '../services/kinds.ts'
import { onService, pathOf } from '../services/on-service.ts'
import { Commit } from './deployment.ts'

/** The author of a commit, as the commit names them. */
export const Contributor = Type.Object({
  id: Uuid,
  created_at: Timestamp,
  updated_at: Timestamp,
  first_name: Type.String(),
  last_name: Type.String(),
})
export const GitWebhookStatus = Type.Object({
  status: Enum(['ACTIVE', 'NOT_CONFIGURED', 'MISCONFIGURED', 'UNABLE_TO_VERIFY']),
  provider: Enum(gitProviders),
  missing_events: Type.Array(Type.String()),
})

const CommitId = Type.Optional(Text(64))
/**
 * `startId` lists only older commits than this one. `gitCommitId` lists this commit and older ones.
 */
const from = Type.Object({ startId: CommitId, gitCommitId: CommitId })
const read = { method: 'GET', target: 'service', access: 'read', status: 200 } as const

/** Lists the last commits of one kind of service. */
export const commitTemplates = <const N extends KindName>(name: N) => ({
  'list{Kind}Commit': operation({
    ...onService(name),
    ...read,
    path: `${pathOf(name)}/commit`,
    handler: 'listCommits',
    summary:
      'Lists the last 100 commits of the branch of a service, newest first. 400 if it has no repository or ' +
      'it cannot be read.',
    query: from,
    reply: Results(Commit),
  }),
})

/** The same for kinds that have a repository for their chart and another for its values. */
export const chartCommitTemplates = <const N extends KindName>(name: N) => ({
  'list{Kind}Commit': operation({
    ...onService(name),
    ...read,
    path: `${pathOf(name)}/commit`,
    handler: 'listChartCommits',
    summary: 'Lists the last 100 commits of the repository of a chart or, with `of=values`, of its values.',
    query: Type.Object({ of: Type.Optional(Enum(['chart', 'values'])) }),
    reply: Results(Commit),
  }),
})

export const contributorTemplates = <const N extends KindName>(name: N) => ({
  'list{Kind}Contributor': operation({
    ...onService(name),
    ...read,
    path: `${pathOf(name)}/contributor`,
    handler: 'listContributors',
    summary: 'Lists the authors of the last 100 commits of the branch of a service, the latest first.',
    reply: Results(Contributor),
  }),
})

export const commitOperations = {
  getServiceGitWebhookStatus: operation({
    ...read,
    path: '/service/{serviceId}/gitWebhookStatus',
    handler: 'getGitWebhookStatus',
    tag: 'Service',
    summary:
      'Returns whether pushes to the repository of a service are received: ACTIVE if the built-in git host ' +
      'has it or a webhook reported a push within 30 days, UNABLE_TO_VERIFY if a webhook of its provider ' +
      'exists. 400 for a service without a repository.',
    reply: GitWebhookStatus,
  }),
} as const

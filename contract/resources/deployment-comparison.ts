import { operation } from '../operation.ts'
import { extension, Nullable, Text, Timestamp, Type } from '../schema.ts'
import { Commit } from './deployment.ts'

/** A version that one execution started for a service. */
const ComparedVersion = Type.Object({
  execution_id: Type.String(),
  created_at: Timestamp,
  commit: Nullable(Commit),
  image: Nullable(Type.String({ description: 'its digest, or its name if the digest is not known' })),
  is_kept: Type.Boolean({ description: 'whether image, variables and secrets still exist, so that it can return' }),
})

/** A setting that differs. Lists and long texts have no values here. */
const ChangedSetting = Type.Object({
  name: Type.String({ description: 'git_repository.branch' }),
  from: Nullable(Type.String()),
  to: Nullable(Type.String()),
})

const executionId = extension(Text(255, 1))

export const deploymentComparisonOperations = {
  compareServiceDeployments: operation({
    extension: true,
    method: 'GET',
    path: '/service/{serviceId}/deploymentComparison',
    target: 'service',
    tag: 'Environment Deployment History',
    handler: 'compareDeployments',
    access: 'read',
    summary:
      'Compares the versions that two executions started for a service: commit, image, settings, and variables ' +
      'and files by name. 409 if one of them started none.',
    query: Type.Object({ from: executionId, to: executionId }),
    reply: Type.Object({
      from: ComparedVersion,
      to: ComparedVersion,
      changed_settings: Type.Array(ChangedSetting),
      changed_variables: Nullable(
        Type.Array(Type.String(), {
          description: 'names of variables, secrets and files; null if one of the versions is no longer kept',
        }),
      ),
    }),
    status: 200,
  }),
} as const

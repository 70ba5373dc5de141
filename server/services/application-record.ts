import type { Ceiling } from './application-rules.ts'
import { ownerAndName } from './git-address.ts'
import type { ServiceRow } from './service-store.ts'

/** The application as the API answers it. */
export function applicationRecord(row: ServiceRow, ceiling: Ceiling) {
  const { git_repository: git, ...settings } = row.settings
  const commit = row.deployed_commit
  return {
    id: row.id,
    created_at: row.created_at,
    updated_at: row.updated_at,
    environment: { id: row.environment_id },
    name: row.name,
    description: row.description,
    service_type: 'APPLICATION' as const,
    ...settings,
    arguments: [...settings.arguments],
    ports: [...settings.ports],
    storage: [...settings.storage],
    annotations_groups: [],
    labels_groups: [],
    maximum_cpu: ceiling.cpu,
    maximum_memory: ceiling.memory,
    maximun_gpu: 0,
    git_repository: {
      ...git,
      ...ownerAndName(git.url),
      branch: git.branch ?? commit?.branch ?? 'main',
      has_access: true,
      deployed_commit_id: commit?.id ?? '',
      deployed_commit_date: commit ? new Date(commit.created_at) : null,
      deployed_commit_contributor: commit?.author_name ?? '',
      deployed_commit_tag: '',
      git_token_name: row.git_token_name,
    },
  }
}

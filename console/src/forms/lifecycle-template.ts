import type { api } from '../api/client.ts'
import { type Draft, type Json, valueAt } from './draft.ts'

/** A template of a lifecycle job. */
export type LifecycleTemplate = Awaited<ReturnType<typeof api.getEnvironmentLifecycleTemplate>>

/** Pure: the draft of a job with everything that a template has. Its name and repository stay. */
export function fromTemplate(draft: Draft, { events, resources, ...template }: LifecycleTemplate): Draft {
  const programs = events.map(({ name, entrypoint, command }): [string, Json] => [
    `on_${name}`,
    { ...(entrypoint !== undefined && { entrypoint }), arguments: command },
  ])
  const repository = valueAt(draft, 'source.docker.git_repository') ?? { url: '' }
  return {
    ...draft,
    source: { docker: { git_repository: repository, dockerfile_raw: template.dockerfile } },
    schedule: {
      lifecycle_type: 'GENERIC',
      on_start: null,
      on_stop: null,
      on_delete: null,
      ...Object.fromEntries(programs),
    },
    max_duration_seconds: template.max_duration_in_sec,
    cpu: resources.cpu_milli,
    memory: resources.ram_mib,
  }
}

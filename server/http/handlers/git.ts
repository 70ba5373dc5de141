import type { Caller } from '../../access/index.ts'
import type { CommitInfo, TreeView } from '../../git/index.ts'
import { AppError, notFound } from '../../lib/error.ts'
import { derivedId } from '../../lib/id.ts'
import { inspect } from '../../repositories/index.ts'
import { commitPage, lifecycleTemplatesOf, repositoriesOf, type ServiceRow } from '../../services/index.ts'
import type { Handlers } from '../call.ts'
import type { Browse } from './browsing.ts'
import { openRepository } from './repository.ts'
import { requireRepositories } from './require-repositories.ts'
import type { Rooms } from './rooms.ts'

const shownCommits = 100
/** The registry that is searched for images if the request names none. */
const publicHub = { kind: 'DOCKER_HUB', name: 'Docker Hub', url: 'https://docker.io', config: {}, secrets: {} }

type Place = Parameters<typeof openRepository>[2] & { readonly root_path?: string | null }

/** Handlers that read repositories: their history, and values for forms. */
export const gitHandlers = (rooms: Rooms, browse: Browse) => {
  const { git, database, registries } = rooms

  async function look<T>(
    { caller, organizationId }: { readonly caller: Caller; readonly organizationId: string },
    place: Place,
    read: (found: ReturnType<typeof inspect>) => Promise<T>,
  ) {
    await requireRepositories(rooms, caller, organizationId, place)
    const repository = await openRepository(rooms, organizationId, place, 'git_repository.')
    const readTree = (tree: TreeView) => read(inspect(tree, place.root_path ?? '/'))
    return browse(caller, (signal) => git.look(repository, signal, readTree))
  }

  async function commitsOf(
    { caller, target: service }: { caller: Caller; target: ServiceRow },
    from?: string,
    place = sourceOf(service),
  ): Promise<CommitInfo[]> {
    const repository = await openRepository(rooms, service.organization_id, place)
    const question = { count: shownCommits, from }
    return browse(caller, (signal) => git.log(repository, question, signal))
  }

  return {
    listDirectories: async ({ caller, target, body }) => {
      await requireRepositories(rooms, caller, target.id, body)
      const repository = await openRepository(rooms, target.id, body)
      const path = (body.root_path ?? '/').replace(/^\/+/, '')
      return { results: await browse(caller, (signal) => git.listDirectories(repository, path, signal)) }
    },

    listCommits: async ({ caller, target, query: { startId, gitCommitId } }) => {
      const commits = await commitsOf({ caller, target }, gitCommitId ?? startId)
      const isOlder = gitCommitId === undefined && startId !== undefined
      return { results: (isOlder ? commits.slice(1) : commits).map(commitRecord(sourceOf(target))) }
    },
    listChartCommits: async ({ caller, target, query }) => {
      const place = query.of === 'values' ? repositoryAt(target, 1) : sourceOf(target)
      return { results: (await commitsOf({ caller, target }, undefined, place)).map(commitRecord(place)) }
    },
    listContributors: async ({ caller, target }) => ({
      results: contributorsOf(await commitsOf({ caller, target })),
    }),
    getGitWebhookStatus: async ({ target }) => {
      const { url, provider } = sourceOf(target)
      const status = await rooms.pushRecords.heardOf(target.organization_id, url, provider)
      return { status, provider, missing_events: [] }
    },

    checkDockerfile: ({ caller, target, body }) =>
      look({ caller, organizationId: target.organization_id }, body.git_repository, (found) =>
        found.dockerfile(body.dockerfile_path),
      ),
    checkHelmRepository: async ({ caller, target, body }) => {
      await look({ caller, organizationId: target.organization_id }, body.git_repository, (found) => found.chart())
      return {}
    },
    checkGitFile: async ({ caller, target, body }) => {
      await look({ caller, organizationId: target.organization_id }, body.git_repository, (found) =>
        found.files(body.files),
      )
      return {}
    },
    checkContainerImage: async ({ caller, target: { organization_id: organizationId }, body }) => {
      const { registry_id, image_name: name, tag } = body
      const registry = registry_id
        ? await registries.containerRegistries.open(database, organizationId, registry_id)
        : publicHub
      await browse(caller, (signal) => registries.images.digest(registry, { name, tag, signal }))
      return {}
    },
    readDefaultValues: async ({ caller, target, body: { source } }) => {
      const { git_repository, helm_repository: listed } = source
      if (!git_repository === !listed) {
        throw new AppError('invalid', 'source must hold exactly one of git_repository and helm_repository.')
      }
      if (git_repository)
        return look({ caller, organizationId: target.organization_id }, git_repository, (found) =>
          found.defaultValues(),
        )
      const { repository, chart_name: name, chart_version: version } = listed ?? {}
      const missing = Object.entries({ repository, chart_name: name, chart_version: version }).find(
        ([, value]) => !value,
      )
      if (missing || !repository || !name || !version) {
        throw new AppError('invalid', `source.helm_repository.${missing?.[0]} is required.`)
      }
      const opened = await registries.helmRepositories.open(database, target.organization_id, repository)
      return browse(caller, (signal) => registries.charts.defaultValues(opened, { name, version }, signal))
    },

    parseTerraformVariables: async ({ caller, target, body }) => ({
      results: await look({ caller, organizationId: target.id }, body.git_repository, (found) => found.variables()),
    }),
    listTfVarsFiles: async ({ caller, target, body: { git_repository, mode } }) => {
      const paths = mode.type === 'SpecificPaths' ? (mode.paths ?? []) : undefined
      return {
        results: await look({ caller, organizationId: target.id }, git_repository, (found) => found.assignments(paths)),
      }
    },

    listLifecycleTemplates: async ({ target }) => ({ results: lifecycleTemplatesOf(target.organization_id) }),
    getLifecycleTemplate: async ({ target, ids }) => {
      const template = lifecycleTemplatesOf(target.organization_id).find(({ id }) => id === ids[0])
      if (template) return template
      throw notFound('lifecycle template', ids[0])
    },
  } satisfies Partial<Handlers>
}

/** Returns the repository that a service is built from. */
const sourceOf = (service: ServiceRow) => repositoryAt(service, 0)

/** Returns the source repository of a service at position 0, and the one of its values at 1. */
function repositoryAt(service: ServiceRow, position: number) {
  const found = repositoriesOf(service.kind, service.settings)
  const isValues = (path: string): boolean => path.startsWith('values_override')
  const { repository } = found.find(({ path }) => isValues(path) === (position === 1)) ?? {}
  if (repository) return repository
  throw new AppError(
    'invalid',
    `"${service.name}" has no git repository ${position === 1 ? 'for its values' : 'to read'}.`,
  )
}

const commitRecord =
  (source: ReturnType<typeof repositoryAt>) =>
  ({ id, createdAt, message, authorName, tag }: CommitInfo) => {
    const commit_page_url = commitPage(source, id)
    return {
      created_at: createdAt,
      git_commit_id: id,
      tag,
      message,
      author_name: authorName,
      ...(commit_page_url && { commit_page_url }),
    }
  }

/** Returns each author once, with the times of the first and last of these commits. */
function contributorsOf(commits: readonly CommitInfo[]) {
  const names = [...new Set(commits.map(({ authorName }) => authorName))]
  return names.map((name) => {
    const own = commits.filter(({ authorName }) => authorName === name).map(({ createdAt }) => createdAt)
    const [updated_at = new Date(0), created_at = updated_at] = [own[0], own.at(-1)]
    const [first_name = '', ...rest] = name.split(' ')
    return { id: derivedId('contributor', name), created_at, updated_at, first_name, last_name: rest.join(' ') }
  })
}

import type { Choices } from '../api/reads-making.ts'
import * as ask from '../api/suggestions.ts'
import type { Suggest } from './fields.ts'

// Which values a field suggests, from the fields beside it. A field without the values that it
// depends on suggests nothing.

/** One question serves all names with this beginning. The browser compares the rest. */
const askedLetters = 3

export const images =
  ({ organizationId }: Choices): Suggest =>
  (beside) => {
    const registry = beside('registry_id')
    return registry === ''
      ? undefined
      : ask.images(organizationId, registry, beside('image_name').slice(0, askedLetters))
  }

export const tags =
  ({ organizationId }: Choices): Suggest =>
  (beside) => {
    const [registry, image] = [beside('registry_id'), beside('image_name')]
    return registry === '' || image === '' ? undefined : ask.tags(organizationId, registry, image)
  }

export const charts =
  ({ organizationId }: Choices): Suggest =>
  (beside) => {
    const repository = beside('repository')
    return repository === '' ? undefined : ask.charts(organizationId, repository)
  }

export const chartVersions =
  ({ organizationId }: Choices): Suggest =>
  (beside) => {
    const [repository, chart] = [beside('repository'), beside('chart_name')]
    return repository === '' || chart === '' ? undefined : ask.chartVersions(organizationId, repository, chart)
  }

/** Without a token, the form suggests repositories of the built-in git host. */
export const repositories =
  ({ organizationId, gitTokens }: Choices): Suggest =>
  (beside) => {
    const token = gitTokens.find(({ id }) => id === beside('git_token_id'))
    return token && ask.gitRepositories(organizationId, token)
  }

export const branches =
  ({ organizationId, gitTokens }: Choices): Suggest =>
  (beside) => {
    const token = gitTokens.find(({ id }) => id === beside('git_token_id'))
    const name = repositoryName(beside('url'))
    return token && name !== '' ? ask.gitBranches(organizationId, token, name) : undefined
  }

export const directories =
  ({ organizationId }: Choices): Suggest =>
  (beside) => {
    const [url, path] = [beside('url'), beside('root_path')]
    const above = `/${path}`.slice(0, `/${path}`.lastIndexOf('/') + 1).replace('//', '/')
    const repository = { url, branch: beside('branch'), git_token_id: beside('git_token_id') }
    return URL.canParse(url) ? ask.directories(organizationId, repository, above) : undefined
  }

/** Pure: the owner and name of a repository, such as `team/shop`. Empty for other texts. */
function repositoryName(url: string): string {
  if (!URL.canParse(url)) return ''
  const path = new URL(url).pathname.slice(1)
  return path.endsWith('.git') ? path.slice(0, -'.git'.length) : path
}

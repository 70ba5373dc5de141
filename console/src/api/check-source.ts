import type { KindName } from '@quayside/contract/services/kinds.ts'
import { asBody, asDraft, type Draft, type Json, listAt, valueAt } from '../forms/draft.ts'
import { api } from './client.ts'

interface Place {
  readonly organizationId: string
  readonly environmentId: string
}
/** Asks for the source of a draft. Returns the answer in words; a refusal is an error. */
type Check = (place: Place) => Promise<string>

const member = (draft: Draft, path: string): Draft | undefined => {
  const value = valueAt(draft, path)
  return typeof value === 'object' && value !== null ? asDraft(value) : undefined
}

const checkImage =
  (image: Draft): Check =>
  async ({ environmentId }) => {
    const { registry_id, image_name, tag } = image
    await api.checkContainerImage({ environmentId, body: asBody({ registry_id, image_name, tag }) })
    return 'The registry has the image.'
  }

const checkDockerfile =
  (source: Draft): Check =>
  async ({ environmentId }) => {
    const { git_repository, dockerfile_path: path } = source
    const body: Draft = { git_repository, dockerfile_path: path || 'Dockerfile' }
    const { arg, repositories } = await api.checkDockerfile({ environmentId, body: asBody(body) })
    return `The Dockerfile exists.${list('It builds on', repositories)}${list('It takes the arguments', arg)}`
  }

const checkChart =
  (git_repository: Json): Check =>
  async ({ environmentId }) => {
    await api.checkHelmRepository({ environmentId, body: asBody({ git_repository }) })
    return 'The repository has a chart there.'
  }

const checkStack =
  (git_repository: Json, named: readonly string[]): Check =>
  async ({ organizationId, environmentId }) => {
    const body = { git_repository, mode: { type: 'AutoDiscover' } }
    if (named.length > 0) await api.checkGitFile({ environmentId, body: asBody({ git_repository, files: named }) })
    const [declared, files] = await Promise.all([
      api.parseTerraformVariablesFromGitRepo({ organizationId, body: asBody({ git_repository }) }),
      api.listTfVarsFilesFromGitRepo({ organizationId, body: asBody(body) }),
    ])
    const variables = declared.results.map(({ key }) => key)
    const words = variables.length === 0 ? ' It declares no variables.' : list('It declares the variables', variables)
    return `The repository exists.${words}${list(
      'It has the files of variables',
      files.results.map(({ source }) => source),
    )}${list('The run reads', named)}`
  }

/** The paths of values begin at the root of their repository, wherever the chart is. */
const checkValues =
  (file: Draft): Check =>
  async ({ environmentId }) => {
    const files = pathsAt(file, 'paths')
    const body: Draft = { git_repository: { ...member(file, 'git_repository'), root_path: '/' }, files }
    await api.checkGitFile({ environmentId, body: asBody(body) })
    return files.length === 0 ? 'The repository exists. No file is named.' : `The repository has ${files.join(', ')}.`
  }

/** Pure: the paths of a list, without its empty lines. */
const pathsAt = (draft: Draft, path: string): readonly string[] =>
  listAt(draft, path).flatMap((line) => (typeof line === 'string' && line.trim() !== '' ? [line] : []))

const list = (words: string, names: readonly string[]): string =>
  names.length === 0 ? '' : ` ${words} ${names.join(', ')}.`

/** Pure: how the source of a draft is checked. Undefined if nothing outside has it. */
export function checkOf(kind: KindName, draft: Draft): Check | undefined {
  const image = kind === 'container' ? draft : member(draft, 'source.image')
  if (image) return checkImage(image)
  const built = kind === 'application' ? draft : member(draft, 'source.docker')
  if (built) return checkDockerfile(built)
  const chart = member(draft, 'source.git_repository')
  if (chart) return checkChart(chart)
  const values = member(draft, 'values_override.file.git')
  if (values) return checkValues(values)
  const stack = member(draft, 'terraform_files_source.git_repository')
  return stack && checkStack(stack, pathsAt(draft, 'terraform_variables_source.tf_var_file_paths'))
}

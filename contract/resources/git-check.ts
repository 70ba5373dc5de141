import { operation } from '../operation.ts'
import { Enum, List, Nullable, Results, Text, Type, Uuid } from '../schema.ts'
import { GitRepositoryRequest } from './git-token.ts'

const Path = Text(4096, 1)
const Done = Type.Object({})

/** The source of a chart: exactly one of the two. */
const ChartSource = Type.Object({
  git_repository: Type.Optional(Nullable(GitRepositoryRequest)),
  helm_repository: Type.Optional(
    Nullable(
      Type.Object({
        repository: Type.Optional(Nullable(Uuid)),
        chart_name: Type.Optional(Nullable(Text(255))),
        chart_version: Type.Optional(Nullable(Text(255))),
      }),
    ),
  ),
})

export const TerraformVariableDefinition = Type.Object({
  key: Type.String(),
  sensitive: Type.Boolean(),
  nullable: Type.Boolean(),
  default: Nullable(Type.String({ description: 'a string without quotes, any other value as written' })),
  source: Type.String({ description: 'the path of the file' }),
  description: Nullable(Type.String()),
})
export const TfVarsFile = Type.Object({
  source: Type.String({ description: 'the path of the file' }),
  variables: Type.Record(Type.String(), Type.String()),
})

const onEnvironment = {
  method: 'POST',
  target: 'environment',
  access: 'write',
  tag: 'Environment',
  reads: true,
} as const
const onOrganization = {
  method: 'POST',
  target: 'organization',
  access: 'write',
  elsewhere: true,
  tag: 'Git',
  reads: true,
} as const

/** Checks repositories and registries for forms. 400 names what is missing. Nothing is stored. */
export const gitCheckOperations = {
  checkDockerfile: operation({
    ...onEnvironment,
    path: '/environment/{environmentId}/checkDockerfile',
    handler: 'checkDockerfile',
    summary: 'Checks that a Dockerfile exists. Returns the arguments that it declares and its base images.',
    body: Type.Object({ git_repository: GitRepositoryRequest, dockerfile_path: Path }),
    reply: Type.Object({
      dockerfile_path: Type.String(),
      arg: Type.Array(Type.String()),
      repositories: Type.Array(Type.String()),
    }),
    status: 200,
  }),
  checkHelmRepository: operation({
    ...onEnvironment,
    path: '/environment/{environmentId}/checkHelmRepository',
    handler: 'checkHelmRepository',
    summary: 'Checks that `root_path` has a chart: a Chart.yaml with name and version.',
    body: Type.Object({ git_repository: GitRepositoryRequest }),
    reply: Done,
    status: 200,
  }),
  checkContainerImage: operation({
    ...onEnvironment,
    path: '/environment/{environmentId}/checkContainerImage',
    handler: 'checkContainerImage',
    summary: 'Checks that a registry has an image with this tag. Without `registry_id`, the registry is Docker Hub.',
    body: Type.Object({ registry_id: Type.Optional(Nullable(Uuid)), image_name: Text(255, 1), tag: Text(128, 1) }),
    reply: Done,
    status: 200,
  }),
  checkGitFile: operation({
    ...onEnvironment,
    path: '/environment/{environmentId}/checkGitFile',
    handler: 'checkGitFile',
    summary: 'Checks that these files exist below `root_path`.',
    body: Type.Object({ git_repository: GitRepositoryRequest, files: List(Path, 100) }),
    reply: Done,
    status: 200,
  }),
  createHelmDefaultValues: operation({
    ...onEnvironment,
    path: '/environment/{environmentId}/helmDefaultValues',
    handler: 'readDefaultValues',
    summary: 'Returns the values.yaml of a chart. Empty if it has none.',
    body: Type.Object({ source: ChartSource }),
    reply: Type.String(),
    contentType: 'text/plain',
    status: 201,
  }),
  parseTerraformVariablesFromGitRepo: operation({
    ...onOrganization,
    path: '/organization/{organizationId}/parseTerraformVariablesFromGitRepo',
    handler: 'parseTerraformVariables',
    summary: 'Lists the variables that the .tf files directly at `root_path` declare.',
    body: Type.Object({ git_repository: GitRepositoryRequest }),
    reply: Results(TerraformVariableDefinition),
    status: 200,
  }),
  listTfVarsFilesFromGitRepo: operation({
    ...onOrganization,
    path: '/organization/{organizationId}/listTfVarsFilesFromGitRepo',
    handler: 'listTfVarsFiles',
    summary: 'Lists the .tfvars files below `root_path`, or those of `mode.paths`, with their variables. At most 100.',
    body: Type.Object({
      git_repository: GitRepositoryRequest,
      mode: Type.Object({
        type: Enum(['AutoDiscover', 'SpecificPaths']),
        paths: Type.Optional(Nullable(List(Path, 100))),
      }),
    }),
    reply: Results(TfVarsFile),
    status: 200,
  }),
} as const

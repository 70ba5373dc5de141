import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { OperationName } from '../../../contract/contract.ts'
import type { Objects } from '../../support/fixture.ts'
import { type Outside, outsideLogin, outsideToken, startOutside } from '../../support/outside.ts'
import type { Platform } from '../../support/platform.ts'
import type { Good } from '../requests.ts'

const hello = { url: 'http://localhost:3000/git/hello.git' }
const forms = { url: 'http://localhost:3000/git/forms.git' }
const files = fileURLToPath(new URL('../../support/forms', import.meta.url))
type Prepare = NonNullable<Good['prepare']>
let started: Promise<Outside> | undefined
/** Returns the origin of a server that stands in for hosts outside the platform. */
async function originOfOutside(): Promise<string> {
  started ??= startOutside()
  return (await started).origin
}

/** Creates another service of the environment over the API. */
async function addService({ call, a }: Platform, { environmentId }: Objects, kind: string, body: object) {
  const request = { name: `used-${randomUUID().slice(0, 8)}`, ...body }
  const answer = await call(a.tokens.ADMIN, 'POST', `/environment/${environmentId}/${kind}`, request)
  assert.equal(answer.status, 201, answer.text)
  return String(Object(answer.body).id)
}

const container = (objects: Objects) => ({
  registry_id: objects.more['containerRegistryId'],
  image_name: 'team/shop',
  tag: '1.0',
  healthchecks: {},
  ports: [],
})
const inUse: Good = {
  prepare: async (platform, objects) => {
    await addService(platform, objects, 'container', container(objects))
    return undefined
  },
}
const chart = (source: object) => ({ source, arguments: [], values_override: {}, auto_deploy: false })
const hasForms: Prepare = async ({ gitHost, a }) => {
  await gitHost.importDirectory(a.organizationId, 'forms', files, 'Files that forms look for')
  return undefined
}

/** Points the registry or repository to the server of the tests. */
const outsideRegistry: Prepare = async ({ rooms, a }, { more }) => {
  const { id } = await rooms.registries.containerRegistries.create(a.organizationId, {
    name: `outside ${randomUUID()}`,
    kind: 'GENERIC_CR',
    url: await originOfOutside(),
    config: outsideLogin,
  })
  return { more: { ...more, containerRegistryId: id } }
}
const outsideCharts: Prepare = async ({ rooms, a }, { more }) => {
  const { id } = await rooms.registries.helmRepositories.create(a.organizationId, {
    name: `outside ${randomUUID()}`,
    kind: 'HTTPS',
    url: `${await originOfOutside()}/charts`,
    skip_tls_verification: false,
    config: outsideLogin,
  })
  return { more: { ...more, helmRepositoryId: id } }
}
const outsideGitToken =
  (type: 'GITHUB' | 'GITLAB' | 'BITBUCKET'): Prepare =>
  async ({ rooms, a }) => {
    const { id } = await rooms.gitTokens.create(a.organizationId, {
      name: `outside ${randomUUID()}`,
      type,
      token: outsideToken,
      workspace: 'team',
      git_api_url: await originOfOutside(),
    })
    return { gitTokenId: id }
  }
const repositories = (type: 'GITHUB' | 'GITLAB' | 'BITBUCKET'): Good => ({
  prepare: outsideGitToken(type),
  of: ({ gitTokenId }) => ({ query: { gitTokenId } }),
})
const branches = (type: 'GITHUB' | 'GITLAB' | 'BITBUCKET', name: string): Good => ({
  prepare: outsideGitToken(type),
  of: ({ gitTokenId }) => ({ query: { name, gitTokenId } }),
})
const empty: Good = { empty: true }

const registry = {
  body: {
    name: 'A new registry',
    kind: 'GENERIC_CR',
    url: 'https://registry.example.com',
    config: { ...outsideLogin },
  },
}
const repository = {
  body: {
    name: 'A new one',
    kind: 'HTTPS',
    url: 'https://charts.example.com',
    skip_tls_verification: false,
    config: {},
  },
}

/** Operations of registries, and of reading git repositories. */
export const gitRequests: Partial<Record<OperationName, Good>> = {
  createGitWebhook: { body: { provider: 'GITLAB', description: 'of the group' } },
  createContainerRegistry: registry,
  editContainerRegistry: { body: { ...registry.body, name: 'A changed registry' } },
  getContainerRegistryAssociatedServices: inUse,
  getContainerRegistryContainerStatus: inUse,
  getContainerVersions: { prepare: outsideRegistry, query: { imageName: 'team/shop' } },
  createHelmRepository: repository,
  editHelmRepository: { body: { ...repository.body, name: 'A changed one', config: { password: null } } },
  getHelmCharts: { prepare: outsideCharts },
  getHelmRepositoryAssociatedServices: {
    prepare: async (platform, objects) => {
      const wanted = { repository: objects.more['helmRepositoryId'], chart_name: 'web', chart_version: '1.2.0' }
      await addService(platform, objects, 'helm', chart({ helm_repository: wanted }))
      return undefined
    },
  },
  getGitTokenAssociatedServices: {
    prepare: async (platform, objects) => {
      const git_repository = { url: 'https://gitlab.com/team/shop.git', git_token_id: objects.gitTokenId }
      await addService(platform, objects, 'application', { git_repository, healthchecks: {} })
      return undefined
    },
  },
  getGitProviderAccount: empty,
  getOrganizationGitProviderAccount: empty,
  getGithubRepositories: empty,
  getGithubRepositoryBranches: empty,
  getGitlabRepositories: empty,
  getGitlabRepositoryBranches: empty,
  getBitbucketRepositories: empty,
  getBitbucketRepositoryBranches: empty,
  getOrganizationGithubRepositories: repositories('GITHUB'),
  getOrganizationGithubRepositoryBranches: branches('GITHUB', 'team/shop'),
  getOrganizationGitlabRepositories: repositories('GITLAB'),
  getOrganizationGitlabRepositoryBranches: branches('GITLAB', 'team/sub/shop'),
  getOrganizationBitbucketRepositories: repositories('BITBUCKET'),
  getOrganizationBitbucketRepositoryBranches: branches('BITBUCKET', 'team/shop'),

  listJobCommit: {
    prepare: async (platform, objects) => {
      const source = { docker: { git_repository: hello, dockerfile_path: 'Dockerfile' } }
      const schedule = { cronjob: { scheduled_at: '0 3 * * *' } }
      const jobId = await addService(platform, objects, 'job', { source, schedule, healthchecks: {} })
      return { more: { ...objects.more, jobId } }
    },
  },
  listHelmCommit: {
    prepare: async (platform, objects) => {
      const helmId = await addService(platform, objects, 'helm', chart({ git_repository: hello }))
      return { more: { ...objects.more, helmId } }
    },
  },
  listTerraformCommit: {
    prepare: async (platform, objects) => {
      const terraformId = await addService(platform, objects, 'terraform', {
        description: '',
        auto_deploy_config: { auto_deploy: false, terraform_action: 'DEFAULT' },
        terraform_files_source: { git_repository: hello },
        terraform_variables_source: { tf_var_file_paths: [], tf_vars: [] },
        backend: { kubernetes: {} },
        engine: 'OPEN_TOFU',
        provider_version: { explicit_version: '1.10' },
        job_resources: { cpu_milli: 500, ram_mib: 512, gpu: 0, storage_gib: 1 },
      })
      return { more: { ...objects.more, terraformId } }
    },
  },

  checkDockerfile: { body: { git_repository: hello, dockerfile_path: 'Dockerfile' } },
  checkHelmRepository: { body: { git_repository: forms }, prepare: hasForms },
  checkGitFile: { body: { git_repository: forms, files: ['values.yaml'] }, prepare: hasForms },
  checkContainerImage: {
    prepare: outsideRegistry,
    of: ({ more }) => ({
      body: { registry_id: more['containerRegistryId'], image_name: 'team/shop', tag: '1.1' },
    }),
  },
  createHelmDefaultValues: { body: { source: { git_repository: forms } }, prepare: hasForms },
  parseTerraformVariablesFromGitRepo: { body: { git_repository: forms }, prepare: hasForms },
  listTfVarsFilesFromGitRepo: {
    body: { git_repository: forms, mode: { type: 'AutoDiscover' } },
    prepare: hasForms,
  },
}

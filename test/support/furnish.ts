import type { ServerProcess } from './server-process.ts'

/** The ids of an organization that has one object of each sort, for the addresses of its pages. */
export interface Furnished {
  readonly organizationId: string
  readonly projectId: string
  readonly environmentId: string
  readonly roleId: string
  readonly webhookId: string
  readonly clusterId: string
  /** The id of a service of each kind. */
  readonly services: Readonly<Record<string, string>>
}

/** Returns the text of a field, such as `project name`. At most 255 characters. */
export type Texts = (field: string) => string

interface Place extends Omit<Furnished, 'services' | 'roleId' | 'webhookId'> {
  readonly registryId: string
}
type Make = (path: string, body: object) => Promise<{ readonly id: string }>

const repository = { url: 'https://example.org/shop.git', branch: 'main' }

/** The services of an environment, one of each kind. */
const services = ({ registryId: registry_id }: Place, text: Texts): Readonly<Record<string, object>> => ({
  application: {
    git_repository: { ...repository, root_path: text('root path') },
    arguments: [text('application argument')],
    ports: [{ internal_port: 8080, publicly_accessible: true, protocol: 'HTTP' }],
  },
  container: {
    registry_id,
    image_name: 'library/nginx',
    tag: '1.27',
    arguments: [text('container argument')],
    entrypoint: text('entrypoint'),
    storage: [{ type: 'FAST_SSD', size: 2, mount_point: '/data' }],
  },
  database: { type: 'REDIS', version: '7', mode: 'CONTAINER', accessibility: 'PRIVATE', storage: 10 },
  job: {
    source: { image: { registry_id, image_name: 'library/nginx', tag: '1.27' } },
    schedule: { cronjob: { scheduled_at: '0 4 * * *', timezone: 'Etc/UTC', arguments: [text('job argument')] } },
  },
  helm: {
    source: { git_repository: repository },
    arguments: [],
    values_override: { file: { raw: { values: [{ name: 'values.yaml', content: `# ${text('chart values')}` }] } } },
  },
  terraform: {
    terraform_files_source: { git_repository: repository },
    terraform_variables_source: { tf_vars: [{ key: 'size', value: text('stack variable') }] },
    backend: { kubernetes: {} },
    engine: 'OPEN_TOFU',
    provider_version: { explicit_version: '1.12' },
  },
})

/** Objects beside the services: the path, the name of the text and the rest of the body. */
async function furnishOrganization(make: Make, organizationId: string, text: Texts) {
  const at = `/organization/${organizationId}`
  const about = (noun: string) => ({ name: text(`${noun} name`), description: text(`${noun} description`) })
  const registry = await make(`${at}/containerRegistry`, {
    ...about('registry'),
    kind: 'GENERIC_CR',
    url: 'https://registry.example.org',
    config: { username: text('registry user'), password: 'a-password' },
  })
  await make(`${at}/helmRepository`, {
    ...about('Helm repository'),
    kind: 'HTTPS',
    url: 'https://charts.example.org',
    skip_tls_verification: false,
    config: {},
  })
  await make(`${at}/gitToken`, { ...about('git token'), type: 'GITLAB', token: 'a-secret' })
  await make(`${at}/apiToken`, about('API token'))
  await make(`${at}/labelsGroups`, {
    name: text('labels name'),
    labels: [{ key: 'team', value: 'shop', propagate_to_cloud_provider: false }],
  })
  await make(`${at}/gitWebhook`, { provider: 'GITHUB', description: text('git webhook description') })
  await make(`${at}/inviteMember`, { email: 'guest@example.org' })
  const webhook = await make(`${at}/webhook`, {
    kind: 'STANDARD',
    target_url: `http://127.0.0.1:9/${encodeURIComponent(text('webhook address'))}`,
    description: text('webhook description'),
    events: ['DEPLOYMENT_STARTED'],
    project_names_filter: [text('webhook filter')],
  })
  const role = await make(`${at}/customRole`, about('role'))
  return { registryId: registry.id, webhookId: webhook.id, roleId: role.id }
}

async function furnishEnvironment(make: Make, place: Place, text: Texts): Promise<Furnished['services']> {
  const ids: Record<string, string> = {}
  for (const [kind, body] of Object.entries(services(place, text))) {
    const about = { name: text(`${kind} name`), description: text(`${kind} description`) }
    ids[kind] = (await make(`/environment/${place.environmentId}/${kind}`, { ...body, ...about })).id
  }
  const variable = (scope: string, parent: string) => ({
    key: `IN_${scope}`,
    value: text(`${scope} value`),
    description: text(`${scope} variable description`),
    is_secret: false,
    variable_scope: scope,
    variable_parent_id: parent,
  })
  await make('/variable', variable('PROJECT', place.projectId))
  await make('/variable', variable('ENVIRONMENT', place.environmentId))
  await make('/variable', variable('APPLICATION', ids['application'] ?? ''))
  await make(`/application/${ids['application']}/customDomain`, { domain: 'shop.test', generate_certificate: false })
  await make(`/project/${place.projectId}/deploymentRule`, {
    ...{ name: text('rule name'), description: text('rule description'), wildcard: text('rule wildcard') },
    ...{ mode: 'STAGING', cluster_id: place.clusterId, auto_stop: true, timezone: 'Etc/UTC' },
    ...{ start_time: '1970-01-01T08:00:00.000Z', stop_time: '1970-01-01T19:00:00.000Z', weekdays: ['MONDAY'] },
  })
  await make(`/environment/${place.environmentId}/deploymentStage`, {
    name: text('stage name'),
    description: text('stage description'),
  })
  return ids
}

/** Makes one object of each sort by the API. `text` writes their names, descriptions and values. */
export async function furnish(server: ServerProcess, text: Texts): Promise<Furnished> {
  const { organizationId } = server
  const make: Make = (path, body) => server.must('POST', path, body)
  const { registryId, ...objects } = await furnishOrganization(make, organizationId, text)
  const { results } = await server.must<{ results: { id: string }[] }>('GET', `/organization/${organizationId}/cluster`)
  const clusterId = results[0]?.id ?? ''
  const project = await make(`/organization/${organizationId}/project`, {
    name: text('project name'),
    description: text('project description'),
  })
  const environment = await make(`/project/${project.id}/environment`, { name: text('environment name') })
  const place = { organizationId, projectId: project.id, environmentId: environment.id, clusterId, registryId }
  return { ...place, ...objects, services: await furnishEnvironment(make, place, text) }
}

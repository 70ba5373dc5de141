import { findEnvironment } from '../../../server/organizations/index.ts'
import type { CreateBody } from '../../../server/services/index.ts'
import type { Contribution } from '../fixture.ts'

const size = { cpu: 100, memory: 64, gpu: 0 }
const git_repository = { url: 'http://localhost:3000/git/hello.git', branch: 'main' }

export const containerBody = (name: string, registry_id: string): CreateBody<'container'> => ({
  ...size,
  name,
  registry_id,
  image_name: 'library/hello',
  tag: '1.0',
  min_running_instances: 1,
  max_running_instances: 1,
  auto_preview: false,
  auto_deploy: true,
  ports: [{ internal_port: 8080, publicly_accessible: true, protocol: 'HTTP' }],
  storage: [],
  arguments: [],
  healthchecks: {},
})

export const databaseBody = (name: string): CreateBody<'database'> => ({
  name,
  type: 'POSTGRESQL',
  version: '16',
  mode: 'CONTAINER',
  accessibility: 'PRIVATE',
  cpu: 250,
  storage: 10,
})

export const jobBody = (name: string, change: Partial<CreateBody<'job'>> = {}): CreateBody<'job'> => ({
  ...size,
  name,
  max_nb_restart: 0,
  max_duration_seconds: 300,
  auto_preview: false,
  source: { docker: { git_repository } },
  healthchecks: {},
  schedule: { cronjob: { arguments: [], timezone: 'Etc/UTC', scheduled_at: '0 4 * * *' } },
  ...change,
})

export const helmBody = (name: string, change: Partial<CreateBody<'helm'>> = {}): CreateBody<'helm'> => ({
  name,
  ports: [],
  timeout_sec: 600,
  auto_deploy: false,
  source: { git_repository },
  arguments: [],
  allow_cluster_wide_resources: false,
  values_override: { set: [], set_string: [], set_json: [] },
  ...change,
})

export const terraformBody = (
  name: string,
  change: Partial<CreateBody<'terraform'>> = {},
): CreateBody<'terraform'> => ({
  name,
  auto_deploy_config: { auto_deploy: false, terraform_action: 'DEFAULT' },
  terraform_files_source: { git_repository },
  terraform_variables_source: { tf_var_file_paths: [], tf_vars: [] },
  backend: { kubernetes: {} },
  engine: 'TERRAFORM',
  provider_version: { read_from_terraform_block: false, explicit_version: '1.9.8' },
  timeout_sec: 600,
  job_resources: { cpu_milli: 1000, ram_mib: 1024, gpu: 0, storage_gib: 20 },
  use_cluster_credentials: false,
  action_extra_arguments: {},
  ...change,
})

/** Adds a service of every kind except application to the environment of the application. */
export const addKinds: Contribution = async ({ database, rooms, tenant, objects, suffix }) => {
  const environment = await findEnvironment(database, objects.environmentId)
  const [registry] = await database<{ id: string }[]>`
    select id from container_registry where organization_id = ${tenant.organizationId} order by created_at limit 1`
  if (!environment || !registry) throw new Error('the environment or its registry is missing')
  const { services } = rooms
  const container = await services.create('container', environment, containerBody(`container-${suffix}`, registry.id))
  const db = await services.create('database', environment, databaseBody(`database-${suffix}`))
  const job = await services.create('job', environment, jobBody(`job-${suffix}`))
  const helm = await services.create('helm', environment, helmBody(`helm-${suffix}`))
  const terraform = await services.create('terraform', environment, terraformBody(`terraform-${suffix}`))
  return {
    containerId: container.id,
    databaseId: db.id,
    jobId: job.id,
    helmId: helm.id,
    terraformId: terraform.id,
  }
}

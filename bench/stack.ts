import { openGitRemote } from '../test/support/git-remote.ts'
import type { Session } from './figure.ts'
import { followDeployment } from './following.ts'
import type { Installation } from './installation.ts'

/** The limits of a run of the stack and of the floor's container. */
export const limits = { cpuMilli: 1000, memoryMiB: 512 }

/** A stack of an installation, alone in its environment. */
export interface Stack {
  readonly id: string
  /** The query by which the streams of the API name it. */
  readonly query: string
  /** Deploys it and waits for the end. Throws if the deployment fails. */
  deploy(): Promise<void>
}

/** Creates a stack of OpenTofu with these sources and deploys it. `version` is the engine's. */
export async function createStack(
  { ending }: Session,
  installation: Installation,
  { name, version, source }: Readonly<Record<'name' | 'version' | 'source', string>>,
): Promise<Stack> {
  const { api, port } = installation
  const url = `http://localhost:${port}/git/${name}.git`
  const repository = await openGitRemote({ url, token: await installation.token() })
  ending.defer(() => repository.remove())
  await repository.push({ 'main.tf': source })
  const organization = firstId((await api('GET', '/organization')).results)
  const cluster = firstId((await api('GET', `/organization/${organization}/cluster`)).results)
  const project = String((await api('POST', `/organization/${organization}/project`, { name })).id)
  const environment = String((await api('POST', `/project/${project}/environment`, { name })).id)
  const { id } = await api('POST', `/environment/${environment}/terraform`, {
    name,
    description: '',
    auto_deploy_config: { auto_deploy: false, terraform_action: 'DEFAULT' },
    terraform_files_source: { git_repository: { url, branch: 'main', root_path: '/' } },
    terraform_variables_source: { tf_var_file_paths: [], tf_vars: [] },
    backend: { kubernetes: {} },
    engine: 'OPEN_TOFU',
    provider_version: { read_from_terraform_block: false, explicit_version: version },
    job_resources: { cpu_milli: limits.cpuMilli, ram_mib: limits.memoryMiB, gpu: 0, storage_gib: 1 },
  })
  const service = String(id)
  const deploy = async (): Promise<void> => {
    const { ended } = await followDeployment(installation, { organization, environment })
    await api('POST', `/terraform/${service}/deploy`, {})
    const status = await ended
    if (status !== 'SUCCESS') {
      const { reason } = await api('GET', `/terraform/${service}/status`)
      throw new Error(`the deployment of ${name} ended with ${status}: ${reason}`)
    }
  }
  await deploy()
  const query = String(new URLSearchParams({ organization, cluster, project, environment, service }))
  return { id: service, query, deploy }
}

const firstId = (results: unknown): string => String(Object(Array.isArray(results) ? results[0] : {}).id)

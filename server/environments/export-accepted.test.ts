import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openTofu } from '../../test/support/opentofu/build.ts'
import { createPlatform } from '../../test/support/platform.ts'
import { qoveryProvider } from '../../test/support/qovery-provider/build.ts'
import { run } from '../lib/run.ts'
import { unzip } from '../lib/testing-unzip.ts'

// The real provider reads the export of services that use as many settings as they can.

const [program, provider] = [openTofu(), qoveryProvider()]
const missing =
  program === undefined
    ? 'OpenTofu is not built: node test/support/opentofu/build.ts'
    : provider === undefined && 'the provider is not built: see test/support/qovery-provider/build.ts'

const platform = await createPlatform({ after })
const { a, app } = platform
const registryId = a.objects.more['containerRegistryId']

const probe = (type: object) => ({
  ...{ type, initial_delay_seconds: 1, period_seconds: 2, timeout_seconds: 3 },
  ...{ success_threshold: 1, failure_threshold: 4 },
})
const port = { internal_port: 8080, external_port: 443, publicly_accessible: true, protocol: 'HTTP', name: 'web' }
const running = {
  autoscaling: {
    mode: 'KEDA',
    polling_interval_seconds: 31,
    cooldown_period_seconds: 301,
    scalers: [
      { scaler_type: 'cron', enabled: true, role: 'PRIMARY', config_yaml: 'a: "1"\n' },
      { scaler_type: 'cpu', enabled: false, role: 'SAFETY', config_json: { value: '50', of: ['a"b'] } },
    ],
  },
  ports: [
    port,
    { ...port, internal_port: 8081, name: 'admin', is_default: true },
    { internal_port: 9000, publicly_accessible: false, protocol: 'TCP' },
    { internal_port: 9001, publicly_accessible: false, protocol: 'GRPC', name: 'rpc' },
  ],
  storage: [{ type: 'FAST_SSD', size: 2, mount_point: '/data' }],
  arguments: ['--say', `it's "\${HOME}" %{ if } \\ \n`],
  entrypoint: '/bin/shop',
  auto_deploy: true,
  min_running_instances: 1,
  max_running_instances: 2,
}
const repository = { url: 'https://github.com/example/hello.git', branch: 'main', root_path: '/shop' }
const image = { registry_id: registryId, image_name: 'library/hello', tag: '1.0' }
const command = { arguments: ['a'], entrypoint: '/bin/run' }

/** Services by the end of their path, each with a name of its own. */
const services: readonly (readonly [path: string, body: object])[] = [
  [
    'application',
    {
      ...running,
      git_repository: repository,
      dockerfile_path: 'Dockerfile',
      docker_target_build_stage: 'run',
      healthchecks: {
        readiness_probe: probe({ http: { path: '/ready', scheme: 'HTTP', port: 8080 } }),
        liveness_probe: probe({ grpc: { service: 'shop', port: 9001 } }),
      },
    },
  ],
  [
    'container',
    {
      ...{ ...running, ...image },
      healthchecks: {
        readiness_probe: probe({ tcp: { port: 8080 } }),
        liveness_probe: probe({ exec: { command: ['true', 'a b'] } }),
      },
    },
  ],
  ['database', { type: 'REDIS', version: '7', mode: 'CONTAINER', accessibility: 'PUBLIC', storage: 10 }],
  ['database', { type: 'MYSQL', version: '8', mode: 'CONTAINER', accessibility: 'PRIVATE', storage: 10 }],
  [
    'job',
    { source: { image }, schedule: { cronjob: { scheduled_at: '0 4 * * *', timezone: 'Europe/Paris', ...command } } },
  ],
  [
    'job',
    {
      source: { docker: { git_repository: repository, dockerfile_path: 'Dockerfile' } },
      schedule: { on_start: command, on_stop: command, on_delete: command, lifecycle_type: 'GENERIC' },
      healthchecks: { liveness_probe: probe({ http: { path: '/', scheme: 'HTTP', port: 8080 } }) },
      port: 8080,
      max_nb_restart: 2,
    },
  ],
  [
    'job',
    {
      source: { docker: { git_repository: repository, dockerfile_raw: `FROM scratch\nCOPY \${a} b\n` } },
      schedule: { on_start: {} },
    },
  ],
  [
    'helm',
    {
      source: { git_repository: repository },
      arguments: ['--atomic'],
      values_override: {
        set: [['a', 'b']],
        set_string: [['c.d', '"e"']],
        set_json: [['f', '{"g":1}']],
        file: { raw: { values: [{ name: 'values.yaml', content: `a: "\${b}"\nc: 1\n` }] } },
      },
      ports: [{ internal_port: 80, external_port: 443, service_name: 'web', name: 'web', protocol: 'HTTP' }],
    },
  ],
  [
    'helm',
    {
      source: { git_repository: repository },
      arguments: [],
      values_override: { file: { git: { git_repository: repository, paths: ['values.yaml'] } } },
    },
  ],
  [
    'terraform',
    {
      terraform_files_source: { git_repository: repository },
      terraform_variables_source: {
        tf_var_file_paths: ['a.tfvars'],
        tf_vars: [
          { key: 'size', value: 'small', secret: false },
          { key: 'password', value: 'hidden', secret: true },
        ],
      },
      action_extra_arguments: { plan: ['-refresh=false'], apply: ['-parallelism=1'] },
      backend: { kubernetes: {} },
      engine: 'OPEN_TOFU',
      provider_version: { explicit_version: '1.12' },
    },
  ],
  [
    'terraform',
    {
      terraform_files_source: { git_repository: repository },
      terraform_variables_source: { tf_vars: [] },
      backend: { user_provided: {} },
      engine: 'TERRAFORM',
      provider_version: { explicit_version: '1.9' },
      use_cluster_credentials: true,
    },
  ],
]

async function ask(method: 'GET' | 'POST' | 'PUT', url: string, payload?: object) {
  const headers = { host: 'localhost', authorization: `Bearer ${a.tokens.ADMIN}` }
  const answer = await app.inject({ method, url, headers, ...(payload && { payload }) })
  assert.ok(answer.statusCode < 300, `${method} ${url}: ${answer.payload}`)
  return answer
}

/** Every sort of a variable, at a place. */
async function addVariables(scope: string, parentId: string): Promise<void> {
  const at = { variable_scope: scope, variable_parent_id: parentId }
  for (const is_secret of [false, true]) {
    const key = is_secret ? 'S' : 'V'
    const plain = { value: 'it\'s "$${a}" %{b}\n', is_secret, description: 'of "people"', ...at }
    const { id } = (await ask('POST', '/variable', { ...plain, key: `${key}_${scope}` })).json()
    await ask('POST', '/variable', { ...plain, key: `${key}_FILE_${scope}`, mount_path: `/etc/${key} ${scope}.txt` })
    const alias = { key: `${key}_ALIAS_${scope}`, alias_scope: scope, alias_parent_id: parentId }
    await ask('POST', `/variable/${id}/alias`, alias)
  }
}

/** Makes a project with every service and every sort of variable. Returns its id. */
async function makeProject(): Promise<string> {
  const { id: projectId } = (await ask('POST', `/organization/${a.organizationId}/project`, { name: 'shops' })).json()
  await addVariables('PROJECT', projectId)
  const tags = await addGroups()
  for (const name of ['full', 'full staged']) {
    const { id } = (await ask('POST', `/project/${projectId}/environment`, { name, mode: 'DEVELOPMENT' })).json()
    for (const [index, [path, body]] of services.entries()) {
      const groups = path === 'helm' || path === 'terraform' ? {} : tags
      const service = await ask('POST', `/environment/${id}/${path}`, { name: `${path}-${index}`, ...groups, ...body })
      if (path === 'application') await addVariables('APPLICATION', service.json().id)
      if (path === 'database' && name === 'full staged') await moveToNewStage(id, service.json().id)
    }
    await addVariables('ENVIRONMENT', id)
  }
  return projectId
}

/** A group of labels and one of annotations, as services name them. */
async function addGroups(): Promise<object> {
  const at = `/organization/${a.organizationId}`
  const label = { key: 'team', value: 'shop', propagate_to_cloud_provider: false }
  const labels = await ask('POST', `${at}/labelsGroups`, { name: 'labels', labels: [label] })
  const annotation = { key: 'example.org/team', value: 'shop' }
  const notes = { name: 'notes', annotations: [annotation], scopes: ['PODS'] }
  const annotations = await ask('POST', `${at}/annotationsGroups`, notes)
  return { labels_groups: [{ id: labels.json().id }], annotations_groups: [{ id: annotations.json().id }] }
}

async function moveToNewStage(environmentId: string, serviceId: string): Promise<void> {
  const stage = { name: `after ${serviceId.slice(-4)}`, description: 'the "last"' }
  const { id } = (await ask('POST', `/environment/${environmentId}/deploymentStage`, stage)).json()
  await ask('PUT', `/deploymentStage/${id}/service/${serviceId}`, { is_skipped: true })
}

const exportOf = async (path: string): Promise<Record<string, string>> =>
  unzip((await ask('GET', `${path}/terraformExport`)).rawPayload)

/** The directories in which the provider works. */
const places: string[] = []
after(() => Promise.all(places.map((place) => rm(place, { recursive: true }))))

/** Writes a configuration to a directory of its own. */
async function placed(files: Readonly<Record<string, string>>): Promise<string> {
  const place = await mkdtemp(join(tmpdir(), 'quayside-export-'))
  places.push(place)
  for (const [name, text] of Object.entries(files)) await writeFile(join(place, name), text)
  const override = `dev_overrides {\n    "qovery/qovery" = "${provider}"\n  }`
  await writeFile(join(place, 'settings.rc'), `provider_installation {\n  ${override}\n  direct {}\n}\n`)
  return place
}

/** Has the provider do something. Throws with its complaint. */
async function tofu(place: string, args: readonly string[], host = ''): Promise<string> {
  const settings = { TF_CLI_CONFIG_FILE: join(place, 'settings.rc'), TF_IN_AUTOMATION: '1', HOME: place }
  const env = { ...settings, QOVERY_API_TOKEN: a.tokens.ADMIN, TEST_QOVERY_HOST: host }
  const options = { cwd: place, env, timeoutMs: 200_000, maxBytes: 16 * 2 ** 20 }
  const { exitCode, stdout, stderr } = await run(program ?? '', [...args, '-no-color'], options)
  if (exitCode !== 0) throw new Error(`tofu ${args[0]} failed:\n${stdout}${stderr}`.slice(-8000))
  return String(stdout)
}

/** A value for each variable of a configuration. */
const values = (files: Readonly<Record<string, string>>): string =>
  [...(files['variables.tf'] ?? '').matchAll(/^variable "(\w+)"/gm)].map(([, name]) => `${name} = "hidden"\n`).join('')

test('the provider accepts the export of an environment', { skip: missing, timeout: 240_000 }, async () => {
  await tofu(await placed(await exportOf(`/environment/${a.objects.environmentId}`)), ['validate'])
})

test('the provider makes the same project again from its export', { skip: missing, timeout: 500_000 }, async (t) => {
  const host = await platform.listen()
  const files = await exportOf(`/project/${await makeProject()}`)
  const renamed = { ...files, 'main.tf': files['main.tf']?.replace('name = "shops"', 'name = "copied"') ?? '' }
  const place = await placed({ ...renamed, 'terraform.tfvars': values(files) })
  await tofu(place, ['validate'])
  const applied = await tofu(place, ['apply', '-auto-approve', '-input=false', '-parallelism=2'], host)
  t.diagnostic(applied.match(/Apply complete!.*/)?.[0] ?? applied)
  const again = await tofu(place, ['plan', '-input=false', '-parallelism=2'], host)
  assert.match(again, /No changes\./)
  const { results } = (await ask('GET', `/organization/${a.organizationId}/project`)).json()
  const copyId = results.find(({ name }: { name: string }) => name === 'copied')?.id
  const copy = await exportOf(`/project/${copyId}`)
  const text = (of: Readonly<Record<string, string>>) => Object.values(of).join('\n').replaceAll('copied', 'shops')
  assert.deepEqual(text(copy).split('\n').toSorted(), text(files).split('\n').toSorted())
})

import type { Path } from './sample.ts'

/**
 * Bodies with as many fields as one service can have at a time. They replace members of the good
 * body.
 */
const probe = (type: object) => ({
  type,
  initial_delay_seconds: 1,
  period_seconds: 2,
  timeout_seconds: 3,
  success_threshold: 1,
  failure_threshold: 4,
})
const healthchecks = {
  readiness_probe: probe({ http: { path: '/ready', scheme: 'HTTP', port: 8080 } }),
  liveness_probe: probe({ grpc: { service: 'shop', port: 8080 } }),
}
const port = { internal_port: 8080, external_port: 443, publicly_accessible: true, protocol: 'HTTP', name: 'web' }
const scaler = { scaler_type: 'cron', enabled: true, role: 'PRIMARY', config_yaml: 'a: 1' }
const longRunning = {
  ports: [port, { ...port, internal_port: 8081, name: 'admin', is_default: true }],
  storage: [{ type: 'FAST_SSD', size: 2, mount_point: '/data' }],
  arguments: ['--verbose'],
  healthchecks,
  min_running_instances: 1,
  max_running_instances: 2,
  autoscaling: {
    mode: 'KEDA',
    polling_interval_seconds: 30,
    cooldown_period_seconds: 300,
    scalers: [scaler],
  },
}
const terraform = {
  action_extra_arguments: {
    plan: ['-refresh=false'],
    init: ['-upgrade'],
    validate: [],
    apply: ['-parallelism=1'],
    destroy: ['-parallelism=2'],
    fmt: [],
  },
  terraform_variables_source: {
    tf_var_file_paths: ['a.tfvars'],
    tf_vars: [{ key: 'size', value: 'small', secret: false }],
  },
  dockerfile_fragment: { type: 'inline', content: 'RUN true' },
}
const git_repository = { url: 'http://localhost:3000/git/hello.git', branch: 'main' }
const helm = {
  arguments: ['--atomic'],
  values_override: {
    set: [['a', 'b']],
    set_string: [['c', 'd']],
    set_json: [['e', '1']],
    file: { raw: { values: [{ name: 'values.yaml', content: 'a: 1' }] } },
  },
  ports: [{ internal_port: 80, external_port: 443, service_name: 'web', name: 'web', protocol: 'HTTP' }],
}

export const fullBodies: Readonly<Record<string, object>> = {
  createApplication: longRunning,
  editApplication: longRunning,
  createContainer: longRunning,
  editContainer: longRunning,
  createJob: { healthchecks, port: 8080 },
  editJob: { healthchecks, port: 8080 },
  createTerraform: terraform,
  editTerraform: { ...terraform, terraform_files_source: { git_repository } },
  createHelm: helm,
  editHelm: { ...helm, source: { git_repository } },
}

/**
 * Fields that an answer returns in another form, each with the reason. The key is the end of a
 * name, or an operation and a name.
 */
const differing: Readonly<Record<string, string>> = {
  token: 'a credential',
  target_secret: 'a credential',
  password: 'a credential',
  secret_access_key: 'a credential',
  scaleway_secret_key: 'a credential',
  json_credentials: 'a credential',
  gcp_credentials: 'a credential',
  vsphere_password: 'a credential',
  api_token: 'a credential',
  start_time: 'only the time of day counts',
  stop_time: 'only the time of day counts',
  'ports[0].is_default': 'one port is always the default',
  'cloud_provider_credentials.cloud_provider': 'it must be that of the cluster, and is answered as such',
  credential_type: 'it is answered as object_type',
  'schedule.lifecycle_type': 'a cron job accepts GENERIC, which has no meaning, and answers none',
  is_skipped: 'the answer lists the stages',
  'createHelmDefaultValues source.git_repository.provider': 'the answer is the text of the default values',
}

/** Returns whether the answer may return the field of an operation in another form. */
export const mayDiffer = (operation: string, field: string): boolean =>
  Object.keys(differing).some(
    (name) => [field, `${operation} ${field}`].includes(name) || field.endsWith(`.${name}`),
  ) ||
  (/Secret|Variable/.test(operation) && field === 'value')

/** Records of charts and stacks nest their repository one level deeper. */
const wrapped = ['source', 'terraform_files_source']

/** Returns the path in an answer for the given path of a request. */
export function placeInAnswer(path: Path): Path {
  const [first = '', ...rest] = path
  if (first === 'routes') return ['results', ...rest]
  return wrapped.includes(String(first)) && rest[0] === 'git_repository' ? [first, 'git', ...rest] : path
}

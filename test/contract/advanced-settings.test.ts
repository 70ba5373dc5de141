import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { advancedSettings, settingsOfKind } from '../../contract/services/advanced-settings.ts'
import { clusterSettings } from '../../contract/services/cluster-settings.ts'
import { type AdvancedSetting, type SettingTable, settingDefaults } from '../../contract/services/setting-table.ts'
import { kubernetesCapabilities } from '../../server/engines/kubernetes/capabilities.ts'
import { createPlatform } from '../support/platform.ts'

const platform = await createPlatform({ after })
const { a } = platform
const token = a.tokens.ADMIN

/** Another valid value of each setting with an effect, and the test that proves the effect. */
const acting: Readonly<Record<string, readonly [value: unknown, file: string, name: string]>> = {
  'build.timeout_max_sec': [60, 'server/releases/acting-settings.test.ts', 'a build gets the limits of its settings'],
  'build.cpu_max_in_milli': [500, 'server/releases/acting-settings.test.ts', 'a build gets the limits of its settings'],
  'build.ram_max_in_gib': [1, 'server/releases/acting-settings.test.ts', 'a build gets the limits of its settings'],
  'build.disable_buildkit_cache': [
    true,
    'server/builders/docker/docker-builder.docker.test.ts',
    'build runs each step again when the recipe ignores the cache',
  ],
  'build.secrets': [['TOKEN'], 'server/rollout/build-secrets.test.ts', 'a build gets the secrets that are named'],
  'deployment.termination_grace_period_seconds': [
    5,
    'server/releases/acting-settings.test.ts',
    'the grace period of a replica is the advanced setting of its kind',
  ],
  'deployment.lifecycle.post_start_exec_command': [
    ['true'],
    'server/engines/docker/workload.docker.test.ts',
    'run after each start of a replica, also after one that Docker has restarted',
  ],
  'deployment.lifecycle.pre_stop_exec_command': [
    ['true'],
    'server/engines/docker/workload.docker.test.ts',
    'run before a replica ends, within its grace time',
  ],
  'deployment.update_strategy.type': [
    'Recreate',
    'server/releases/acting-settings.test.ts',
    'two versions run at once unless the advanced settings forbid it',
  ],
  ...Object.fromEntries(
    Object.entries({
      proxy_body_size_mb: 2,
      proxy_read_timeout_seconds: 5,
      enable_cors: true,
      cors_allow_origin: 'https://shop.example',
      cors_allow_methods: 'GET',
      cors_allow_headers: 'X-One',
      whitelist_source_range: '10.0.0.0/8',
      denylist_source_range: 'fd00::/8',
      enable_sticky_session: true,
      extra_headers: '{"X-Frame-Options": "DENY"}',
    }).map(([key, value]) => [
      `network.ingress.${key}`,
      [value, 'server/domains/route-rules.test.ts', 'settings in a request become rules'],
    ]),
  ),
  ...Object.fromEntries(
    ['read', 'send'].map((direction) => [
      `network.ingress.grpc_${direction}_timeout_seconds`,
      [5, 'server/domains/route-rules.test.ts', 'timeouts of gRPC apply to its ports alone'],
    ]),
  ),
  ...Object.fromEntries(
    Object.entries({
      'ingress.proxy_connect_timeout_seconds': 5,
      'ingress.proxy_send_timeout_seconds': 6,
      'ingress.send_timeout_seconds': 7,
      'gateway_api.http_request_timeout_seconds': 8,
      'gateway_api.http_connection_idle_timeout_seconds': 9,
      'gateway_api.retry.num_retries': 3,
      'gateway_api.retry.retry_on': '5xx,reset',
      'gateway_api.retry.http_status_codes': '429,503',
      'gateway_api.retry.per_try_timeout_seconds': 1,
    }).map(([key, value]) => [
      `network.${key}`,
      [value, 'server/domains/route-rules.test.ts', 'timeouts and retries become rules'],
    ]),
  ),
  ...Object.fromEntries(
    Object.entries({
      access_log: true,
      compression: true,
      requests_per_minute: 60,
      maintenance_message: 'Back soon',
      maintenance_source_range: '10.0.0.0/8',
      redirects: '{"/old": "/new"}',
      request_headers: '{"X-Zone": "blue"}',
    }).map(([key, value]) => [
      `network.router.${key}`,
      [value, 'server/domains/route-rules.test.ts', 'settings about visitors become rules'],
    ]),
  ),
  'network.router.sign_in': [
    'member',
    'test/accounts/applications.test.ts',
    'a person with a session gets a token for this service, host, browser and path',
  ],
  'network.router.sign_in_embeddable': [
    true,
    'server/domains/route-rules.test.ts',
    'responses of an application behind the sign-in may be embedded only if its setting says so',
  ],
  'network.ingress.basic_auth_env_var': [
    'WHO',
    'server/releases/basic-auth.test.ts',
    'a deployment applies the logins of the variable',
  ],
  'hpa.cpu.average_utilization_percent': [
    30,
    'server/scaling/scaling.test.ts',
    'load adds replicas within the settings and the machine',
  ],
  'hpa.memory.average_utilization_percent': [
    30,
    'server/scaling/scaling.test.ts',
    'load adds replicas within the settings and the machine',
  ],
  'security.read_only_root_filesystem': [
    true,
    'server/engines/docker/workload.docker.test.ts',
    'cannot be written to, except its storage, and has the mounted files',
  ],
  'job.delete_ttl_seconds_after_finished': [
    60,
    'server/jobs/timetables.test.ts',
    'a run is deleted as long after its end as the settings say',
  ],
  'cronjob.concurrency_policy': ['Allow', 'server/jobs/timetables.test.ts', 'while a run is in progress, '],
  'cronjob.failed_jobs_history_limit': [
    3,
    'server/jobs/timetables.test.ts',
    'as many ended runs are kept as the settings say',
  ],
  'cronjob.success_jobs_history_limit': [
    3,
    'server/jobs/timetables.test.ts',
    'as many ended runs are kept as the settings say',
  ],
}

/** Settings that act on a Docker Engine only. */
const actingOnMachines: typeof acting = Object.fromEntries(
  Object.entries({
    ...{ steps: '5,25', step_seconds: 30, max_error_percent: 1, min_requests: 50 },
    ...{ max_latency_ms: 500, max_slow_percent: 1 },
  }).map(([key, value]) => [
    `deployment.canary.${key}`,
    [
      value,
      'server/rollout/canary-plan.test.ts',
      'the advanced settings of a service become the plan of its canary deployments',
    ],
  ]),
)

/** Settings that act on clusters of Kubernetes only. */
const actingOnClusters: typeof acting = {
  'deployment.affinity.node.required': [
    { disk: 'fast' },
    'server/engines/kubernetes/manifests.test.ts',
    'replicas run on the nodes and in the zones that their settings choose',
  ],
  'deployment.antiaffinity.pod': [
    'Requirred',
    'server/engines/kubernetes/manifests.test.ts',
    'replicas run on the nodes and in the zones that their settings choose',
  ],
  'deployment.topology_spread.zone': [
    'DoNotSchedule',
    'server/engines/kubernetes/manifests.test.ts',
    'replicas run on the nodes and in the zones that their settings choose',
  ],
}
/** The tests that prove the effect of settings on clusters, where the cluster itself has to act. */
const byCluster: Readonly<Record<string, readonly [file: string, name: string]>> = {
  'hpa.cpu.average_utilization_percent': [
    'server/engines/kubernetes/autoscaler.test.ts',
    'a release whose number of replicas may change has an autoscaler and no number of its own',
  ],
  'hpa.memory.average_utilization_percent': [
    'server/engines/kubernetes/autoscaler.test.ts',
    'an autoscaler follows memory only if the settings name it',
  ],
  'deployment.termination_grace_period_seconds': [
    'server/engines/kubernetes/manifests.test.ts',
    'a replica is asked for its readiness, and waits before it stops',
  ],
  'deployment.lifecycle.post_start_exec_command': [
    'server/engines/kubernetes/manifests.test.ts',
    'commands of a user, and a stop signal, run at the end of a replica',
  ],
  'deployment.lifecycle.pre_stop_exec_command': [
    'server/engines/kubernetes/manifests.test.ts',
    'commands of a user, and a stop signal, run at the end of a replica',
  ],
  'security.read_only_root_filesystem': [
    'server/engines/kubernetes/manifests.test.ts',
    'a root file system that may not be written to is read-only',
  ],
}

/** Returns a valid value other than the default, derived from the schema. */
function otherValue({ schema, default: usual }: AdvancedSetting): unknown {
  const type = [schema['type']].flat()[0]
  if (Array.isArray(schema['enum'])) return schema['enum'].find((value) => value !== usual)
  if (type === 'boolean') return usual !== true
  if (type === 'integer') return (typeof usual === 'number' ? usual : 6) + 1
  if (type === 'array') return ['other']
  return type === 'object' ? { other: 'value' } : 'other'
}
const wrongValue = ({ schema }: AdvancedSetting): unknown =>
  schema['type'] === 'object' ? 'text' : { no: { such: 'type' } }

async function put(path: string, body: object): Promise<{ status: number; message: string }> {
  const answer = await platform.call(token, 'PUT', path, body)
  return { status: answer.status, message: String(Object(answer.body).message) }
}

const grants = ({ granted }: AdvancedSetting, value: unknown): boolean => granted?.includes(value) ?? false

async function checkRecord(
  path: string,
  table: SettingTable,
  mayAct: (key: string) => boolean,
  values = acting,
): Promise<void> {
  assert.equal((await put(path, settingDefaults(table))).status, 201, `${path}: all defaults`)
  for (const [key, setting] of Object.entries(table)) {
    assert.equal((await put(path, { [key]: setting.default })).status, 201, `${key}: its default`)
    assert.equal((await put(path, { [key]: wrongValue(setting) })).status, 400, `${key}: a wrong type`)
    const value = values[key] && mayAct(key) ? values[key][0] : otherValue(setting)
    const acts = mayAct(key) || grants(setting, value)
    const { status, message } = await put(path, { [key]: value })
    if (acts) assert.equal(status, 201, `${key}: ${message}`)
    else {
      assert.equal(status, 400, `${key} is accepted without effect`)
      assert.ok(message.startsWith(`${key} cannot be ${JSON.stringify(value)}: `), message)
      assert.match(message, / Leave it out, or send its default .*\.$/)
    }
    await put(path, {})
  }
}

const onMachines = { ...acting, ...actingOnMachines }
for (const kind of ['application', 'container', 'job'] as const) {
  test(`every advanced setting of a ${kind} has an effect or is rejected with the reason`, () =>
    checkRecord(
      `/${kind}/${kind === 'application' ? a.objects.applicationId : a.objects.more[`${kind}Id`]}/advancedSettings`,
      settingsOfKind(kind),
      (key) => key in onMachines,
      onMachines,
    ))
}
for (const kind of ['application', 'container', 'job'] as const) {
  test(`every advanced setting of a ${kind} has an effect on clusters or is rejected with the reason`, async (t) => {
    const usual = platform.engine.capabilities
    t.after(() => {
      platform.engine.capabilities = usual
    })
    platform.engine.capabilities = { ...usual, ...kubernetesCapabilities, images: usual.images }
    const values = { ...acting, ...actingOnClusters }
    await checkRecord(
      `/${kind}/${kind === 'application' ? a.objects.applicationId : a.objects.more[`${kind}Id`]}/advancedSettings`,
      settingsOfKind(kind),
      (key) => key in values,
      values,
    )
  })
}

test('settings on which a cluster itself has to act are proven there', () => {
  const needsCluster = Object.entries({ ...acting, ...actingOnClusters }).filter(([key]) =>
    /^(?:hpa|security|deployment)\.(?!update_strategy)/.test(key),
  )
  for (const [key, [, file]] of needsCluster) {
    const proof = byCluster[key]
    if (!proof) assert.match(file, /kubernetes/, `${key} has no test of its effect on clusters`)
  }
})
for (const kind of ['helm', 'terraform'] as const) {
  test(`every advanced setting of a ${kind} is rejected without an engine`, () =>
    checkRecord(`/${kind}/${a.objects.more[`${kind}Id`]}/advancedSettings`, settingsOfKind(kind), () => false))
}
test('every advanced setting of the built-in cluster is rejected with the reason', async () => {
  const clusters = await platform.call(token, 'GET', `/organization/${a.organizationId}/cluster`)
  const [cluster] = Object(clusters.body).results.filter((one: { name: string }) => one.name === 'local')
  await checkRecord(
    `/organization/${a.organizationId}/cluster/${cluster.id}/advancedSettings`,
    clusterSettings,
    () => false,
  )
})

test('each setting with an effect names a test that exists', () => {
  const onClusters = Object.entries(byCluster).map(([key, [file, name]]) => [key, [undefined, file, name]] as const)
  for (const [key, [, file, name]] of [...Object.entries({ ...onMachines, ...actingOnClusters }), ...onClusters]) {
    assert.ok(key in advancedSettings, key)
    assert.ok(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').includes(name), `${file}: ${name}`)
  }
})

test('canary steps that cannot be followed are rejected with the reason', async () => {
  const path = `/application/${a.objects.applicationId}/advancedSettings`
  const wrong = ['0', '101', '50,5', '5,5', 'half', '5,,25', '1,'.repeat(2000)]
  for (const steps of wrong) {
    const { status, message } = await put(path, { 'deployment.canary.steps': steps })
    assert.equal(status, 400, steps)
    assert.match(message, /^deployment\.canary\.steps: /)
  }
  const recreated = { 'deployment.canary.steps': '5', 'deployment.update_strategy.type': 'Recreate' }
  assert.match((await put(path, recreated)).message, /two versions share the requests, but .* is Recreate/)
  assert.equal((await put(path, { 'deployment.canary.steps': ' 5, 25 ' })).status, 201)
  assert.equal((await put(path, {})).status, 201)
})

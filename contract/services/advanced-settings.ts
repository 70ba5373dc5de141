import { type KindName, kindNames, serviceKinds, shapeOf } from './kinds.ts'
import type { SettingPlace } from './refused-settings.ts'
import {
  choice,
  flag,
  map,
  names,
  needs,
  number,
  own,
  type SettingTable,
  type SettingValues,
  settingsOf,
  text,
  texts,
} from './setting-table.ts'

/** The advanced settings of services: A application, C container, H helm, J job, T terraform. */
export const advancedSettings = {
  'build.timeout_max_sec': number('AJT', 1800),
  'build.cpu_max_in_milli': number('AJT', 4000),
  'build.ram_max_in_gib': number('AJT', 8),
  'build.ephemeral_storage_in_gib': number('T', null),
  'build.disable_buildkit_cache': flag('AJ', false),
  'build.secrets': own(names('AJ')),
  'build.skip_git_submodules': needs('git-submodules', flag('AJT', true)),
  'deployment.custom_domain_check_enabled': needs('domain-check', flag('ACH', true), [false]),
  'deployment.termination_grace_period_seconds': number('ACJT', 60, 0, 86_400),
  'deployment.affinity.node.required': needs('node-placement', map('ACJT')),
  'deployment.antiaffinity.pod': needs('node-placement', choice('AC', 'Preferred', ['Preferred', 'Requirred'])),
  'deployment.topology_spread.zone': needs(
    'node-placement',
    choice('AC', 'Disabled', ['Disabled', 'ScheduleAnyway', 'DoNotSchedule']),
  ),
  'deployment.lifecycle.post_start_exec_command': needs('lifecycle-commands', texts('A', [])),
  'deployment.lifecycle.pre_stop_exec_command': needs('lifecycle-commands', texts('A', ['/bin/sh', '-c', 'sleep 15'])),
  'deployment.update_strategy.type': choice('AC', 'RollingUpdate', ['RollingUpdate', 'Recreate']),
  'deployment.update_strategy.rolling_update.max_unavailable_percent': needs('gradual-rollout', number('AC', 25), [0]),
  'deployment.update_strategy.rolling_update.max_surge_percent': needs('gradual-rollout', number('AC', 25), [100]),
  'deployment.canary.steps': own(needs('canary', text('AC', ''))),
  'deployment.canary.step_seconds': own(needs('canary', number('AC', 60, 1, 3_600))),
  'deployment.canary.max_error_percent': own(needs('canary', number('AC', 5, 0, 100))),
  'deployment.canary.max_latency_ms': own(needs('canary', number('AC', 0, 0, 600_000))),
  'deployment.canary.max_slow_percent': own(needs('canary', number('AC', 5, 0, 100))),
  'deployment.canary.min_requests': own(needs('canary', number('AC', 20, 1, 1_000_000))),
  'network.ingress.proxy_body_size_mb': number('ACH', 100),
  'network.ingress.force_ssl_redirect': needs('tls', flag('ACH', true), [false]),
  'network.ingress.enable_cors': flag('ACH', false),
  'network.ingress.cors_allow_origin': text('ACH', '*'),
  'network.ingress.cors_allow_methods': text('ACH', 'GET, PUT, POST, DELETE, PATCH, OPTIONS'),
  'network.ingress.cors_allow_headers': text(
    'ACH',
    'DNT, Keep-Alive, User-Agent, X-Requested-With, If-Modified-Since, Cache-Control, Content-Type, Range, ' +
      'Authorization',
  ),
  'network.ingress.proxy_buffer_size_kb': needs('proxy-buffers', number('ACH', 4)),
  'network.ingress.keepalive_time_seconds': needs('connections-by-service', number('ACH', 3600)),
  'network.ingress.keepalive_timeout_seconds': needs('connections-by-service', number('ACH', 60)),
  'network.ingress.send_timeout_seconds': number('ACH', 60),
  'network.ingress.proxy_connect_timeout_seconds': number('ACH', 60),
  'network.ingress.proxy_send_timeout_seconds': number('ACH', 60),
  'network.ingress.proxy_read_timeout_seconds': number('ACH', 60),
  'network.ingress.proxy_buffering': needs('proxy-buffers', text('ACH', 'on'), ['off']),
  'network.ingress.proxy_request_buffering': needs('proxy-buffers', text('CH', 'on'), ['off']),
  'network.ingress.whitelist_source_range': text('ACH', '0.0.0.0/0'),
  'network.ingress.denylist_source_range': text('ACH', null),
  'network.ingress.basic_auth_env_var': text('ACH', null),
  'network.ingress.enable_sticky_session': flag('ACH', false),
  'network.ingress.grpc_send_timeout_seconds': number('ACH', 60),
  'network.ingress.grpc_read_timeout_seconds': number('ACH', 60),
  'network.ingress.extra_headers': text('ACH', '{}'),
  'network.router.access_log': own(flag('ACH', false)),
  'network.router.compression': own(flag('ACH', false)),
  'network.router.requests_per_minute': own(number('ACH', 0, 0, 1_000_000)),
  'network.router.maintenance_message': own(text('ACH', null)),
  'network.router.maintenance_source_range': own(text('ACH', null)),
  'network.router.redirects': own(text('ACH', '{}')),
  'network.router.request_headers': own(text('ACH', '{}')),
  'network.router.sign_in': own(text('ACH', null)),
  'network.router.sign_in_embeddable': own(flag('ACH', false)),
  'network.gateway_api.http_request_timeout_seconds': number('ACH', null),
  'network.gateway_api.http_connection_idle_timeout_seconds': number('ACH', null),
  'network.gateway_api.retry.num_retries': number('ACH', null),
  'network.gateway_api.retry.retry_on': text('ACH', null),
  'network.gateway_api.retry.http_status_codes': text('ACH', null),
  'network.gateway_api.retry.per_try_timeout_seconds': number('ACH', null, 1),
  'hpa.cpu.average_utilization_percent': number('AC', 60),
  'hpa.memory.average_utilization_percent': number('AC', null),
  'security.service_account_name': needs('service-accounts', text('ACJT', null)),
  'security.automount_service_account_token': needs('service-accounts', flag('ACJ', false)),
  'security.read_only_root_filesystem': needs('read-only-root', flag('ACJT', false)),
  'job.delete_ttl_seconds_after_finished': number('J', null),
  'cronjob.concurrency_policy': choice('J', 'Forbidden', ['Forbidden', 'Allow', 'Replace']),
  'cronjob.failed_jobs_history_limit': number('J', 1),
  'cronjob.success_jobs_history_limit': number('J', 1),
} as const satisfies SettingTable

/** The letters of the kinds. Databases have no settings. */
const letters: Readonly<Record<KindName, string>> = {
  application: 'A',
  container: 'C',
  database: '-',
  helm: 'H',
  job: 'J',
  terraform: 'T',
}
const settingsByKind = new Map<string, SettingTable>(
  kindNames.map((kind) => [kind, settingsOf(advancedSettings, letters[kind])]),
)
/** Returns the advanced settings of a kind of service. */
export const settingsOfKind = (kind: string): SettingTable => settingsByKind.get(kind) ?? {}

/**
 * Returns the settings that need a deployment. The router applies its own without one, and canary
 * steps only say how the next version gets requests.
 */
export const deployedSettings = (values: SettingValues): SettingValues =>
  Object.fromEntries(
    Object.entries(values).filter(
      ([key]) =>
        !(key.startsWith('network.') || key.startsWith('deployment.canary.')) ||
        key === 'network.ingress.basic_auth_env_var',
    ),
  )

/** Returns the place where the settings of a service of that kind act. */
export const placeOfKind = (kind: KindName, able: SettingPlace['able']): SettingPlace => ({
  table: settingsOfKind(kind),
  able,
  listed: `GET /default${serviceKinds[kind].noun}AdvancedSettings`,
  shape: shapeOf(kind),
})

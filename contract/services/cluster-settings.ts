import { choice, flag, map, number, type SettingTable, text, texts } from './setting-table.ts'

const resources = (name: string, cpu: number, memory: number): SettingTable => ({
  [`${name}.cpu_request_m`]: number('*', 300),
  [`${name}.cpu_limit_m`]: number('*', cpu),
  [`${name}.memory_request_mib`]: number('*', 1024),
  [`${name}.memory_limit_mib`]: number('*', memory),
})
const access = (type: string): SettingTable => ({
  [`database.${type}.deny_any_access`]: flag('*', false),
  [`database.${type}.allowed_cidrs`]: texts('*', ['0.0.0.0/0']),
})

/** The advanced settings of clusters. They are kept and answered: Kubernetes would act on them. */
export const clusterSettings: SettingTable = {
  'aws.cloudwatch.eks_logs_retention_days': number('*', 90),
  'aws.vpc.enable_s3_flow_logs': flag('*', false),
  'aws.vpc.flow_logs_retention_days': number('*', 365),
  'aws.vpc.enable_nat_gateway_secondary_eip': flag('*', false),
  'loki.log_retention_in_week': number('*', 12),
  'loki.deployment_mode': choice('*', 'single_binary', ['single_binary', 'simple_scalable']),
  ...resources('loki.single_binary', 8000, 2048),
  ...resources('loki.write', 8000, 2048),
  ...resources('loki.read', 8000, 2048),
  ...resources('loki.backend', 8000, 2048),
  'registry.image_retention_time': number('*', 31_536_000),
  'cloud_provider.container_registry.tags': map('*'),
  'aws.eks.enable_alb_controller': flag('*', true),
  'aws.eks.enable_efs_addon': flag('*', false),
  'aws.eks.efs.throughput_mode': choice('*', 'elastic', ['bursting', 'elastic', 'provisioned']),
  'aws.eks.efs.performance_mode': choice('*', 'generalPurpose', ['generalPurpose', 'maxIO']),
  'aws.eks.efs.transition_to_ia': choice('*', 'AFTER_30_DAYS', [
    'AFTER_1_DAY',
    'AFTER_7_DAYS',
    'AFTER_14_DAYS',
    'AFTER_30_DAYS',
    'AFTER_60_DAYS',
    'AFTER_90_DAYS',
    '',
  ]),
  'load_balancer.size': text('*', 'lb-s'),
  ...access('postgresql'),
  ...access('mysql'),
  ...access('mongodb'),
  ...access('redis'),
  'aws.iam.admin_group': text('*', 'Admins'),
  'aws.eks.ec2.metadata_imds': choice('*', 'required', ['optional', 'required']),
  'aws.eks.ec2.ami': text('*', 'AmazonLinux2023'),
  'pleco.resources_ttl': number('*', -1, -1),
  'registry.mirroring_mode': choice('*', 'Service', ['Service', 'Cluster']),
  'nginx.vcpu.request_in_milli_cpu': number('*', 200),
  'nginx.vcpu.limit_in_milli_cpu': number('*', 700),
  'nginx.memory.request_in_mib': number('*', 768),
  'nginx.memory.limit_in_mib': number('*', 768),
  'envoy.gateway_api.http_request_timeout_seconds': number('*', null),
  'envoy.gateway_api.http_connection_idle_timeout_seconds': number('*', null),
  'envoy.gateway_api.retry.num_retries': nullable(number('*', null), 2),
  'envoy.gateway_api.retry.retry_on': nullable(text('*', null), 'connect-failure,reset,refused-stream'),
  'envoy.gateway_api.retry.http_status_codes': text('*', null),
  'envoy.gateway_api.retry.per_try_timeout_seconds': number('*', null, 1),
  'nginx.hpa.cpu_utilization_percentage_threshold': number('*', 50),
  'nginx.hpa.min_number_instances': number('*', 2),
  'nginx.hpa.max_number_instances': number('*', 25),
  'storageclass.fast_ssd': text('*', ''),
  'qovery.static_ip_mode': flag('*', false),
  'k8s.api.allowed_public_access_cidrs': texts('*', []),
}

/** It may be null, and is another value while nothing was sent. */
function nullable(setting: SettingTable[string], initial: unknown): SettingTable[string] {
  return { ...setting, default: initial }
}

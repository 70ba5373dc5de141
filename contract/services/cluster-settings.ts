import { choice, flag, map, needs, number, objectName, own, type SettingTable, text, texts } from './setting-table.ts'

const resources = (name: string, cpu: number, memory: number): SettingTable => ({
  [`${name}.cpu_request_m`]: needs('loki', number('*', 300)),
  [`${name}.cpu_limit_m`]: needs('loki', number('*', cpu)),
  [`${name}.memory_request_mib`]: needs('loki', number('*', 1024)),
  [`${name}.memory_limit_mib`]: needs('loki', number('*', memory)),
})
const access = (type: string): SettingTable => ({
  [`database.${type}.deny_any_access`]: needs('database-firewall', flag('*', false)),
  [`database.${type}.allowed_cidrs`]: needs('database-firewall', texts('*', ['0.0.0.0/0'])),
})

/** The advanced settings of clusters. */
export const clusterSettings: SettingTable = {
  'aws.cloudwatch.eks_logs_retention_days': needs('aws', number('*', 90)),
  'aws.vpc.enable_s3_flow_logs': needs('aws', flag('*', false)),
  'aws.vpc.flow_logs_retention_days': needs('aws', number('*', 365)),
  'aws.vpc.enable_nat_gateway_secondary_eip': needs('aws', flag('*', false)),
  'loki.log_retention_in_week': needs('loki', number('*', 12)),
  'loki.deployment_mode': needs('loki', choice('*', 'single_binary', ['single_binary', 'simple_scalable'])),
  ...resources('loki.single_binary', 8000, 2048),
  ...resources('loki.write', 8000, 2048),
  ...resources('loki.read', 8000, 2048),
  ...resources('loki.backend', 8000, 2048),
  'registry.image_retention_time': needs('image-retention', number('*', 31_536_000)),
  'cloud_provider.container_registry.tags': needs('cloud-provider', map('*')),
  'aws.eks.enable_alb_controller': needs('aws', flag('*', true)),
  'aws.eks.enable_efs_addon': needs('aws', flag('*', false)),
  'aws.eks.efs.throughput_mode': needs('aws', choice('*', 'elastic', ['bursting', 'elastic', 'provisioned'])),
  'aws.eks.efs.performance_mode': needs('aws', choice('*', 'generalPurpose', ['generalPurpose', 'maxIO'])),
  'aws.eks.efs.transition_to_ia': needs(
    'aws',
    choice('*', 'AFTER_30_DAYS', [
      'AFTER_1_DAY',
      'AFTER_7_DAYS',
      'AFTER_14_DAYS',
      'AFTER_30_DAYS',
      'AFTER_60_DAYS',
      'AFTER_90_DAYS',
      '',
    ]),
  ),
  'load_balancer.size': needs('cloud-provider', text('*', 'lb-s')),
  ...access('postgresql'),
  ...access('mysql'),
  ...access('mongodb'),
  ...access('redis'),
  'aws.iam.admin_group': needs('aws', text('*', 'Admins')),
  'aws.eks.ec2.metadata_imds': needs('aws', choice('*', 'required', ['optional', 'required'])),
  'aws.eks.ec2.ami': needs('aws', text('*', 'AmazonLinux2023')),
  'pleco.resources_ttl': needs('cloud-provider', number('*', -1, -1)),
  'registry.mirroring_mode': needs('image-mirroring', choice('*', 'Service', ['Service', 'Cluster'])),
  'nginx.vcpu.request_in_milli_cpu': needs('nginx-ingress', number('*', 200)),
  'nginx.vcpu.limit_in_milli_cpu': needs('nginx-ingress', number('*', 700)),
  'nginx.memory.request_in_mib': needs('nginx-ingress', number('*', 768)),
  'nginx.memory.limit_in_mib': needs('nginx-ingress', number('*', 768)),
  'envoy.gateway_api.http_request_timeout_seconds': needs('gateway-defaults', number('*', null)),
  'envoy.gateway_api.http_connection_idle_timeout_seconds': needs('gateway-defaults', number('*', null)),
  'envoy.gateway_api.retry.num_retries': needs('gateway-defaults', nullable(number('*', null), 2)),
  'envoy.gateway_api.retry.retry_on': needs(
    'gateway-defaults',
    nullable(text('*', null), 'connect-failure,reset,refused-stream'),
  ),
  'envoy.gateway_api.retry.http_status_codes': needs('gateway-defaults', text('*', null)),
  'envoy.gateway_api.retry.per_try_timeout_seconds': needs('gateway-defaults', number('*', null, 1)),
  'nginx.hpa.cpu_utilization_percentage_threshold': needs('nginx-ingress', number('*', 50)),
  'nginx.hpa.min_number_instances': needs('nginx-ingress', number('*', 2)),
  'nginx.hpa.max_number_instances': needs('nginx-ingress', number('*', 25)),
  'storageclass.fast_ssd': needs('cloud-provider', text('*', '')),
  'qovery.static_ip_mode': needs('cloud-provider', flag('*', false)),
  'k8s.api.allowed_public_access_cidrs': needs('kubernetes-api', texts('*', [])),
  'tls.secret_name': needs('cluster-tls', own(objectName('*'))),
  'tls.controller_certificate': needs('cluster-tls', own(flag('*', false))),
  'tls.cluster_issuer': needs('cluster-tls', own(objectName('*'))),
}

/** The settings that give services of a cluster certificates. */
export const tlsSettings = ['tls.secret_name', 'tls.controller_certificate', 'tls.cluster_issuer'] as const

/** A nullable setting with a default other than null. */
function nullable(setting: SettingTable[string], initial: unknown): SettingTable[string] {
  return { ...setting, default: initial }
}

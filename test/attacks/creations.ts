import type { LimitKind } from '../../server/limits/index.ts'
import type { Objects } from '../support/fixture.ts'
import { issued } from '../support/issued.ts'

/** A request that creates one object. */
export interface Creation {
  /** The rows that the limit counts: the parts of a statement behind "from". */
  readonly counted: readonly string[]
  readonly path: (count: number) => string
  readonly method?: 'PUT'
  readonly body: (count: number) => object
}

const git_repository = { url: 'http://localhost:3000/git/hello.git' }
const upload = { chain: issued.cert + issued.intermediate, private_key: issued.key }

/**
 * Returns a request for each kind of objects that is created with a token. `domains` are ids of
 * custom domains of the application that have names of the certificate.
 */
export function creationsOf(
  { organizationId, projectId, environmentId, applicationId, clusterId }: Objects,
  domains: readonly string[],
) {
  const inOrganization = (table: string, path: string, body: (count: number) => object): Creation => ({
    counted: [`${table} where organization_id = '${organizationId}'`],
    path: () => `/organization/${organizationId}/${path}`,
    body,
  })
  const ofService = (table: string, path: string, body: (count: number) => object): Creation => ({
    counted: [`${table} where service_id = '${applicationId}'`],
    path: () => `/application/${applicationId}/${path}`,
    body,
  })
  const owned = `p.organization_id = '${organizationId}'`
  const named = (count: number) => ({ name: `limited ${count}` })
  const variable = (count: number) => ({ key: `LIMITED_${count}`, value: 'a' })
  const domain = (below: string) => (count: number) => ({
    domain: `n${count}.${below}`,
    generate_certificate: false,
  })
  return {
    projects: inOrganization('project', 'project', named),
    environments: {
      counted: [`environment e join project p on p.id = e.project_id where ${owned}`],
      path: () => `/project/${projectId}/environment`,
      body: named,
    },
    services: {
      counted: [
        `service s join environment e on e.id = s.environment_id
        join project p on p.id = e.project_id where ${owned}`,
      ],
      path: () => `/environment/${environmentId}/application`,
      body: (count) => ({ ...named(count), git_repository }),
    },
    members: {
      ...inOrganization('', 'inviteMember', (count) => ({ email: `n${count}@a.example`, role: 'ADMIN' })),
      counted: ['member', 'invitation'].map((table) => `${table} where organization_id = '${organizationId}'`),
    },
    customRoles: inOrganization('custom_role', 'customRole', (count) => ({ ...named(count), description: '' })),
    apiTokens: inOrganization('api_token', 'apiToken', (count) => ({ ...named(count), scope: 'read' })),
    webhooks: inOrganization('webhook', 'webhook', (count) => ({
      kind: 'STANDARD',
      target_url: `https://hooks.invalid/${count}`,
      events: ['DEPLOYMENT_SUCCEEDED'],
    })),
    gitWebhooks: inOrganization('git_webhook', 'gitWebhook', () => ({ provider: 'GITLAB' })),
    gitTokens: inOrganization('git_token', 'gitToken', (count) => ({
      ...named(count),
      type: 'GITHUB',
      token: 'ghp_0123456789',
    })),
    containerRegistries: inOrganization('container_registry', 'containerRegistry', (count) => ({
      ...named(count),
      kind: 'DOCKER_HUB',
      url: 'https://docker.io',
      config: {},
    })),
    helmRepositories: inOrganization('helm_repository', 'helmRepository', (count) => ({
      ...named(count),
      kind: 'HTTPS',
      url: 'https://charts.invalid',
      skip_tls_verification: false,
      config: {},
    })),
    clusters: inOrganization('cluster', 'cluster', (count) => ({
      ...named(count),
      region: 'on-premise',
      cloud_provider: 'ON_PREMISE',
      kubernetes: 'SELF_MANAGED',
    })),
    credentials: inOrganization('credentials', 'onPremise/credentials', named),
    groups: inOrganization('tag_group', 'labelsGroups', (count) => ({
      ...named(count),
      labels: [{ key: 'team', value: 'a', propagate_to_cloud_provider: false }],
    })),
    domains: {
      ...ofService('', 'customDomain', domain('all.example.net')),
      counted: [`custom_domain where organization_id = '${organizationId}'`],
    },
    unprovenDomains: {
      ...ofService('', 'customDomain', domain('unproven.example.net')),
      counted: [
        `custom_domain where organization_id = '${organizationId}' and proof is null
        and next_ask_at is not null`,
      ],
    },
    serviceDomains: ofService('custom_domain', 'customDomain', domain('service.example.net')),
    certificates: {
      counted: [
        `uploaded_certificate u join custom_domain d on d.id = u.custom_domain_id
        where d.organization_id = '${organizationId}'`,
      ],
      method: 'PUT',
      path: (count) => `/application/${applicationId}/customDomain/${domains[count]}/certificate`,
      body: () => upload,
    },
    deploymentRules: {
      counted: [`project_deployment_rule where project_id = '${projectId}'`],
      path: () => `/project/${projectId}/deploymentRule`,
      body: (count) => ({
        ...named(count),
        cluster_id: clusterId,
        mode: 'DEVELOPMENT',
        timezone: 'UTC',
        start_time: '2026-01-01T08:00:00.000Z',
        stop_time: '2026-01-01T19:00:00.000Z',
        weekdays: ['MONDAY'],
        wildcard: '*',
      }),
    },
    stages: {
      counted: [`deployment_stage where environment_id = '${environmentId}'`],
      path: () => `/environment/${environmentId}/deploymentStage`,
      body: named,
    },
    variables: ofService('variable', 'environmentVariable', variable),
    restrictions: ofService('deployment_restriction', 'deploymentRestriction', (count) => ({
      mode: 'MATCH',
      type: 'PATH',
      value: `limited/${count}`,
    })),
  } as const satisfies Partial<Record<LimitKind, Creation>>
}

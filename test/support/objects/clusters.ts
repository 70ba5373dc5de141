import type { ProviderName } from '../../../contract/providers.ts'
import type { CredentialsBody } from '../../../server/clusters/index.ts'
import { canaryOf } from '../canary.ts'
import type { Contribution } from '../fixture.ts'

/** Returns a valid request for credentials of each provider. Every secret in it is `secret`. */
export const credentialsBodies = (secret: string): Record<ProviderName, CredentialsBody & { name: string }> => ({
  aws: { name: 'aws', type: 'AWS_STATIC', access_key_id: 'AKIAEXAMPLE', secret_access_key: secret },
  scaleway: {
    name: 'scaleway',
    scaleway_access_key: 'SCWEXAMPLE',
    scaleway_secret_key: secret,
    scaleway_project_id: 'project',
    scaleway_organization_id: 'organization',
  },
  gcp: { name: 'gcp', credential_type: 'SERVICE_ACCOUNT_KEY', gcp_credentials: secret },
  azure: { name: 'azure', azure_subscription_id: 'subscription', azure_tenant_id: 'tenant' },
  onPremise: { name: 'on premise' },
})

/** Adds credentials of each provider, and regions for paths. */
export const addClusterObjects: Contribution = async ({ rooms, tenant }) => {
  const { organizationId } = tenant
  const bodies = credentialsBodies(canaryOf(tenant))
  const made = async (provider: ProviderName) =>
    (await rooms.credentials.create(organizationId, provider, bodies[provider])).id
  return {
    'aws.credentialsId': await made('aws'),
    'scaleway.credentialsId': await made('scaleway'),
    'gcp.credentialsId': await made('gcp'),
    'azure.credentialsId': await made('azure'),
    'onPremise.credentialsId': await made('onPremise'),
    'aws.region': 'eu-west-3',
    'azure.region': 'francecentral',
    'gcp.region': 'europe-west9',
    'scaleway.zone': 'fr-par-1',
    databaseType: 'POSTGRESQL',
    // No cluster can have one.
    secretManagerAccessId: '0190eeee-eeee-7eee-beee-eeeeeeeeeeee',
  }
}

import type { ProviderName } from '@quayside/contract/providers.ts'
import type { CredentialsType } from '@quayside/contract/resources/credentials.ts'
import { AppError } from '../lib/error.ts'

/** The fields of requests of all providers. */
export type CredentialsBody = { readonly name?: string; readonly type?: string; readonly credential_type?: string } & {
  readonly [F in CredentialsField]?: string
}
const credentialsFields = [
  'access_key_id',
  'secret_access_key',
  'role_arn',
  'vsphere_user',
  'vsphere_password',
  'scaleway_access_key',
  'scaleway_secret_key',
  'scaleway_project_id',
  'scaleway_organization_id',
  'gcp_credentials',
  'service_account_email',
  'workload_identity_provider_resource',
  'azure_subscription_id',
  'azure_tenant_id',
] as const
export type CredentialsField = (typeof credentialsFields)[number]

/** The fields of credentials that are returned beside the name. Numbers are seconds. */
export type CredentialsSettings = Readonly<Record<string, string | number | null>>

interface Variant {
  readonly provider: ProviderName
  readonly objectType: CredentialsType
  /** Required and returned. */
  readonly shown: readonly CredentialsField[]
  /** Required and never returned. */
  readonly secret: readonly CredentialsField[]
  /** Returned beside them. */
  readonly derived?: (settings: CredentialsSettings) => CredentialsSettings
}

/** The project of a service account: `name@project.iam.gserviceaccount.com`. */
function projectOf(email: string): string {
  const [, host = ''] = email.split('@', 2)
  const end = host.indexOf('.')
  return end > 0 ? host.slice(0, end) : ''
}

/** Nothing is registered with Azure here, so there is no application to name. */
const noApplication = (): CredentialsSettings => ({ azure_application_id: '', azure_application_object_id: '' })
/** Whether `name@project.iam.gserviceaccount.com` belongs to `project`. */
const googleProject = ({ service_account_email: email }: CredentialsSettings): CredentialsSettings => ({
  project_id: projectOf(String(email)),
  token_lifetime_seconds: 3600,
})

/** The types of credentials, by the name in requests. */
export const variants = {
  AWS_STATIC: { provider: 'aws', objectType: 'AWS', shown: ['access_key_id'], secret: ['secret_access_key'] },
  AWS_ROLE: { provider: 'aws', objectType: 'AWS_ROLE', shown: ['role_arn'], secret: [] },
  EKS_ANYWHERE_VSPHERE_STATIC: {
    provider: 'aws',
    objectType: 'EKS_ANYWHERE_VSPHERE',
    shown: ['vsphere_user', 'access_key_id'],
    secret: ['vsphere_password', 'secret_access_key'],
  },
  EKS_ANYWHERE_VSPHERE_ROLE: {
    provider: 'aws',
    objectType: 'EKS_ANYWHERE_VSPHERE',
    shown: ['vsphere_user', 'role_arn'],
    secret: ['vsphere_password'],
  },
  SCALEWAY: {
    provider: 'scaleway',
    objectType: 'SCW',
    shown: ['scaleway_access_key', 'scaleway_project_id', 'scaleway_organization_id'],
    secret: ['scaleway_secret_key'],
  },
  SERVICE_ACCOUNT_KEY: { provider: 'gcp', objectType: 'GCP', shown: [], secret: ['gcp_credentials'] },
  WORKLOAD_IDENTITY_FEDERATION: {
    provider: 'gcp',
    objectType: 'GCP_WORKLOAD_IDENTITY_FEDERATION',
    shown: ['service_account_email', 'workload_identity_provider_resource'],
    secret: [],
    derived: googleProject,
  },
  AZURE: {
    provider: 'azure',
    objectType: 'AZURE',
    shown: ['azure_subscription_id', 'azure_tenant_id'],
    secret: [],
    derived: noApplication,
  },
  ON_PREMISE: { provider: 'onPremise', objectType: 'OTHER', shown: [], secret: [] },
} as const satisfies Record<string, Variant>
export type VariantName = keyof typeof variants

export const variantOf = (name: VariantName): Variant => variants[name]

/** Returns the type that a request means. Without one, the current type of the credentials. */
export function wantedVariant(provider: ProviderName, body: CredentialsBody, former?: VariantName): VariantName {
  switch (provider) {
    case 'aws':
      return variantNames.find((name) => name === body.type) ?? former ?? 'AWS_STATIC'
    case 'gcp':
      return googleVariant(body, former)
    case 'scaleway':
      return 'SCALEWAY'
    case 'azure':
      return 'AZURE'
    case 'onPremise':
      return 'ON_PREMISE'
  }
}

function googleVariant(body: CredentialsBody, former: VariantName | undefined): VariantName {
  const { credential_type: said } = body
  if (said !== undefined) return said === 'SERVICE_ACCOUNT_KEY' ? said : 'WORKLOAD_IDENTITY_FEDERATION'
  if (body.gcp_credentials !== undefined) return 'SERVICE_ACCOUNT_KEY'
  if (body.workload_identity_provider_resource !== undefined) return 'WORKLOAD_IDENTITY_FEDERATION'
  return former ?? 'SERVICE_ACCOUNT_KEY'
}

/** The keys of the table. Object.keys loses their type. */
const variantNames = Object.keys(variants) as VariantName[]

/**
 * Returns the fields of a request that a variant needs, split into returned fields and
 * secrets. With `all`, a missing field is an error with its name.
 */
export function partsOf(
  name: VariantName,
  body: CredentialsBody,
  all: boolean,
): { shown: Record<string, string>; secret: Record<string, string> } {
  const pick = (fields: readonly CredentialsField[]): Record<string, string> => {
    const found: Record<string, string> = {}
    for (const field of fields) {
      const value = body[field]
      if (value !== undefined) found[field] = value
      else if (all) throw new AppError('invalid', `${field} is required for credentials of the type ${name}.`)
    }
    return found
  }
  const { shown, secret } = variantOf(name)
  const foreign = credentialsFields.find((field) => body[field] && ![...shown, ...secret].includes(field))
  if (foreign) throw new AppError('invalid', `${foreign} does not belong to credentials of the type ${name}.`)
  return { shown: pick(shown), secret: pick(secret) }
}

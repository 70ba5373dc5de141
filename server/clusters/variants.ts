import type { ProviderName } from '@quayside/contract/providers.ts'
import type { CredentialsType } from '@quayside/contract/resources/credentials.ts'
import { AppError } from '../lib/error.ts'

/** What a request may say, of whichever provider. */
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

/** What is answered of credentials beside their name; numbers are seconds. */
export type CredentialsSettings = Readonly<Record<string, string | number | null>>

interface Variant {
  readonly provider: ProviderName
  readonly objectType: CredentialsType
  /** Needed and answered. */
  readonly shown: readonly CredentialsField[]
  /** Needed and never answered. */
  readonly secret: readonly CredentialsField[]
  /** What is answered beside them. */
  readonly derived?: (settings: CredentialsSettings) => CredentialsSettings
}

/** The project of a service account: `name@project.iam.gserviceaccount.com`. */
function projectOf(email: string): string {
  const [, host = ''] = email.split('@', 2)
  const end = host.indexOf('.')
  return end > 0 ? host.slice(0, end) : ''
}

/** Nothing is registered with Azure here, so that there is no application to name. */
const noApplication = (): CredentialsSettings => ({ azure_application_id: '', azure_application_object_id: '' })
/** `name@project.iam.gserviceaccount.com` is of `project`. */
const googleProject = ({ service_account_email: email }: CredentialsSettings): CredentialsSettings => ({
  project_id: projectOf(String(email)),
  token_lifetime_seconds: 3600,
})

/** The forms that credentials have, by what requests call them. */
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

/** Which form a request means; one that does not say means the form that the credentials have. */
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

/** The keys of the table; Object.keys forgets their type. */
const variantNames = Object.keys(variants) as VariantName[]

/**
 * What a variant needs of a request, split by whether it may be answered. Missing ones are named
 * where `all` of them are needed.
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

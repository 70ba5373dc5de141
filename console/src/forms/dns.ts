import type { Draft } from './draft.ts'
import type { FieldSpec } from './fields.ts'

const kept = 'Leave it empty to keep the stored one.'
const ofProvider: Readonly<Record<string, readonly FieldSpec[]>> = {
  CLOUDFLARE: [
    { path: 'dns_provider.email', label: 'E-mail address of the account', type: 'text' },
    { path: 'dns_provider.api_token', label: 'API token', type: 'password', hint: kept },
    { path: 'dns_provider.proxied', label: 'Requests pass through Cloudflare', type: 'check' },
  ],
  ROUTE53: [
    { path: 'dns_provider.credentials.aws_access_key_id', label: 'Access key id', type: 'text' },
    {
      path: 'dns_provider.credentials.aws_secret_access_key',
      label: 'Secret access key',
      type: 'password',
      hint: kept,
    },
    { path: 'dns_provider.aws_region', label: 'Region', type: 'text' },
    { path: 'dns_provider.hosted_zone_id', label: 'Hosted zone', type: 'text' },
  ],
}

/** The form of the domain of a cluster. */
export const dnsFields = (draft: Draft): readonly FieldSpec[] => [
  {
    path: 'dns_provider.domain',
    label: 'Domain',
    type: 'text',
    isRequired: true,
    hint: 'The names of the services of the cluster end with it.',
  },
  {
    path: 'dns_provider.provider',
    label: 'Name servers',
    type: 'select',
    options: [
      { value: 'QOVERY', label: 'set up by you, as a wildcard record' },
      { value: 'CLOUDFLARE', label: 'Cloudflare' },
      { value: 'ROUTE53', label: 'Amazon Route 53' },
    ],
  },
  ...(ofProvider[String(Object(draft['dns_provider']).provider)] ?? []),
]

/** The members of the body of each provider. The API rejects members of another one. */
const members: Readonly<Record<string, readonly string[]>> = {
  CLOUDFLARE: ['email', 'api_token', 'proxied'],
  ROUTE53: ['credentials', 'aws_region', 'hosted_zone_id'],
}

/** Pure: the body of a draft. Secrets that are empty stay as they are stored. */
export function dnsBody(draft: Draft): Draft {
  const { provider, domain, ...rest }: Draft = Object(draft['dns_provider'])
  const own = Object.entries(rest).filter(([name]) => members[String(provider)]?.includes(name))
  const filled = own.filter(([, value]) => value !== null && value !== '')
  if (provider !== 'ROUTE53') return { dns_provider: { provider, domain, ...Object.fromEntries(filled) } }
  const { aws_access_key_id: key, aws_secret_access_key: secret }: Draft = Object(rest['credentials'])
  const credentials = { type: 'STATIC', aws_access_key_id: key ?? '', ...(secret && { aws_secret_access_key: secret }) }
  return { dns_provider: { provider, domain, ...Object.fromEntries(filled), credentials } }
}

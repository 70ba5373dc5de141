import { AppError } from '../lib/error.ts'
import type { DnsSettings } from './cluster-store.ts'

export interface DnsBody {
  readonly provider: DnsSettings['provider']
  readonly domain: string
  readonly email?: string
  readonly api_token?: string
  readonly proxied?: boolean
  readonly credentials?: {
    readonly type: 'STATIC'
    readonly aws_access_key_id: string
    readonly aws_secret_access_key?: string
  }
  readonly aws_region?: string
  readonly hosted_zone_id?: string | null
}

const domainForm = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * Pure: returns the stored form and its secret. An omitted secret is kept if the provider is
 * unchanged. `own` is the domain of a cluster whose names this installation creates itself: it
 * cannot be replaced.
 */
export function checkedDns(
  body: DnsBody,
  former: DnsSettings | null,
  formerSecret: string | undefined,
  own: string | undefined,
): { settings: DnsSettings; secret: string | undefined } {
  const domain = body.domain.toLowerCase()
  if (!domainForm.test(domain)) throw new AppError('invalid', 'dns_provider.domain must be a domain name.')
  if (own !== undefined && (body.provider !== 'QOVERY' || domain !== own)) {
    throw new AppError(
      'invalid',
      `dns_provider: names of the built-in cluster end in "${own}" (QUAYSIDE_DOMAIN), and this ` +
        'platform writes no records of other name servers.',
    )
  }
  const foreign = Object.keys(fieldsOf).find((field) => isForeign(body, field))
  if (foreign) {
    throw new AppError('invalid', `dns_provider.${foreign} does not belong to the provider ${body.provider}. Omit it.`)
  }
  const kept = former?.provider === body.provider ? formerSecret : undefined
  return providers[body.provider](body, domain, kept)
}

/** The fields that only one provider has. */
const fieldsOf: Readonly<Record<string, DnsSettings['provider']>> = {
  email: 'CLOUDFLARE',
  api_token: 'CLOUDFLARE',
  proxied: 'CLOUDFLARE',
  credentials: 'ROUTE53',
  aws_region: 'ROUTE53',
  hosted_zone_id: 'ROUTE53',
}

/** An empty value, such as false or an empty string, is no reason to reject a body. */
const isForeign = (body: DnsBody, field: string): boolean =>
  fieldsOf[field] !== body.provider && Boolean(Object(body)[field])

type Check = (
  body: DnsBody,
  domain: string,
  kept: string | undefined,
) => { settings: DnsSettings; secret: string | undefined }

function needed<T>(value: T | undefined, field: string): T {
  if (value === undefined) throw new AppError('invalid', `dns_provider.${field} is required.`)
  return value
}

const providers: Record<DnsSettings['provider'], Check> = {
  QOVERY: (_, domain) => ({ settings: { provider: 'QOVERY', domain }, secret: undefined }),
  CLOUDFLARE: (body, domain, kept) => ({
    settings: {
      provider: 'CLOUDFLARE',
      domain,
      email: needed(body.email, 'email'),
      proxied: body.proxied ?? false,
    },
    secret: needed(body.api_token ?? kept, 'api_token'),
  }),
  ROUTE53: (body, domain, kept) => {
    const { type, aws_access_key_id, aws_secret_access_key } = needed(body.credentials, 'credentials')
    return {
      settings: {
        provider: 'ROUTE53',
        domain,
        credentials: { type, aws_access_key_id },
        aws_region: needed(body.aws_region, 'aws_region'),
        hosted_zone_id: body.hosted_zone_id ?? null,
      },
      secret: needed(aws_secret_access_key ?? kept, 'credentials.aws_secret_access_key'),
    }
  },
}

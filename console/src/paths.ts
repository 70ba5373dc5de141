import type { KindName } from '@quayside/contract/services/kinds.ts'

/** Every address of the console. The API has none that begins with these words. */
export const paths = {
  home: '/',
  organization: (organization: string) => `/organizations/${organization}`,
  environment: (organization: string, environment: string) =>
    `/organizations/${organization}/environments/${environment}`,
  service: (organization: string, environment: string, kind: KindName, service: string) =>
    `/organizations/${organization}/environments/${environment}/${kind}/${service}`,
  /** Where the issuer sends people back. */
  signedIn: '/login/auth0-callback',
} as const

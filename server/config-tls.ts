import { letsEncrypt } from './certificates/index.ts'
import { ConfigError, optionalNumber, type Variables } from './config-forms.ts'

/** How the router speaks TLS. */
export interface RouterTlsSettings {
  readonly port: number
  /** The address of the authority's directory (RFC 8555). */
  readonly directory: string
  /** Where the authority may write about its certificates. */
  readonly email?: string
}

/**
 * Reads the port of HTTPS and the certificate authority. Undefined without a port. Throws
 * ConfigError with the name of the variable.
 */
export function routerTls(variables: Variables): RouterTlsSettings | undefined {
  const port = optionalNumber(variables, 'QUAYSIDE_ROUTER_TLS_PORT', 1, 65_535)
  const directory = variables['QUAYSIDE_ACME_DIRECTORY'] || letsEncrypt
  const email = variables['QUAYSIDE_ACME_EMAIL'] || undefined
  if (!URL.canParse(directory) || new URL(directory).protocol !== 'https:') {
    throw new ConfigError(`QUAYSIDE_ACME_DIRECTORY must be an address such as ${letsEncrypt}, not "${directory}".`)
  }
  if (email !== undefined && !/^[^\s@,]+@[^\s@,]+$/.test(email)) {
    throw new ConfigError(`QUAYSIDE_ACME_EMAIL must be an address such as ops@example.org, not "${email}".`)
  }
  if (port === undefined) return undefined
  return { port, directory, ...(email !== undefined && { email }) }
}

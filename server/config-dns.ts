import type { DnsSettings } from './certificates/index.ts'
import { domainOf } from './config-domain.ts'
import { ConfigError, list, nameServerForm, type Variables } from './config-forms.ts'

const updates = ['QUAYSIDE_ACME_DNS_KEY_FILE', 'QUAYSIDE_ACME_DNS_SERVER'] as const
const webhook = ['QUAYSIDE_ACME_DNS_WEBHOOK', 'QUAYSIDE_ACME_DNS_WEBHOOK_AUTHORIZATION_FILE'] as const
const serverForm = /^[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?$/

/**
 * Reads how the records of the domain are changed. Undefined if they are not. Throws ConfigError
 * with the name of the variable.
 */
export function acmeDns(variables: Variables): DnsSettings | undefined {
  const [keyFile, server] = updates.map((name) => variables[name] || undefined)
  const [url, authorizationFile] = webhook.map((name) => variables[name] || undefined)
  const place = {
    domain: domainOf(variables),
    nameServers: list(variables, 'QUAYSIDE_NAME_SERVERS', nameServerForm),
  }
  if (keyFile !== undefined && url !== undefined) {
    throw new ConfigError(`${updates[0]} and ${webhook[0]} are two ways to change DNS. Set one of them.`)
  }
  if (server !== undefined && !serverForm.test(server)) {
    throw new ConfigError(`${updates[1]} must be a server such as ns1.example.org:53, not "${server}".`)
  }
  if (url !== undefined && !/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new ConfigError(`${webhook[0]} must be an address such as https://dns.example.org/acme, not "${url}".`)
  }
  if (keyFile !== undefined) {
    const program = variables['QUAYSIDE_NSUPDATE'] || 'nsupdate'
    return { ...place, by: { updates: { program, keyFile, ...(server !== undefined && { server }) } } }
  }
  if (url !== undefined) {
    return { ...place, by: { webhook: { url, ...(authorizationFile !== undefined && { authorizationFile }) } } }
  }
  const alone = server === undefined ? (authorizationFile === undefined ? undefined : webhook) : updates
  if (alone) throw new ConfigError(`${alone[1]} has no effect without ${alone[0]}.`)
  return undefined
}

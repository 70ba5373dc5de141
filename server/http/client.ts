import type { IncomingHttpHeaders } from 'node:http'
import type { Origin } from '@quayside/contract/enums.ts'
import type { Client } from './call.ts'

const fullDialect = /^(?:CLI |Terraform provider |OpenAPI-Generator\/|Mozilla\/)/

/**
 * Reads the client's origin and its dialect of states (ADR 0003) from the headers. Operations
 * without `shortStates` have one dialect.
 */
export function readClient(headers: IncomingHttpHeaders, shortStates: true | undefined): Client {
  const agent = headers['user-agent'] ?? ''
  const asked = headers['x-state-dialect']
  const full = !shortStates || asked === 'full' || (asked !== 'specification' && fullDialect.test(agent))
  return { origin: originOf(agent), dialect: full ? 'full' : 'specification' }
}

function originOf(agent: string): Origin {
  if (agent.startsWith('CLI ')) return 'CLI'
  if (agent.startsWith('Terraform provider ')) return 'TERRAFORM_PROVIDER'
  return agent.startsWith('Mozilla/') ? 'CONSOLE' : 'API'
}

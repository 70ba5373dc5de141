import type { IncomingHttpHeaders } from 'node:http'
import type { Origin } from '@quayside/contract/enums.ts'
import type { Client } from './call.ts'

const fullDialect = /^(?:CLI |Terraform provider |OpenAPI-Generator\/|Mozilla\/)/

/** Which words a client knows and where it stands in history, from what it says of itself (spec: two dialects of `state`). */
export function readClient(headers: IncomingHttpHeaders): Client {
  const agent = headers['user-agent'] ?? ''
  const asked = headers['x-state-dialect']
  const full = asked === 'full' || (asked !== 'specification' && fullDialect.test(agent))
  return { origin: originOf(agent), dialect: full ? 'full' : 'specification' }
}

function originOf(agent: string): Origin {
  if (agent.startsWith('CLI ')) return 'CLI'
  if (agent.startsWith('Terraform provider ')) return 'TERRAFORM_PROVIDER'
  return agent.startsWith('Mozilla/') ? 'CONSOLE' : 'API'
}

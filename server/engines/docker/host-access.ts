import type { OpenPorts } from '../network-guards.ts'
import type { Guard } from './packet-filter.ts'

const refused = { iptables: 'icmp-port-unreachable', ip6tables: 'icmp6-port-unreachable' } as const

/**
 * Pure: returns the chain that rejects connections from these bridges to the machine itself. It
 * accepts the open ports of this installation and port 53, because a machine may be its
 * containers' resolver. It also accepts replies to the machine's own connections, and ICMP, which
 * IPv6 needs to find neighbours.
 */
export function hostGuard(
  program: Guard['program'],
  bridges: readonly string[],
  instance: string,
  open: readonly OpenPorts[],
): Guard {
  const comment = `-m comment --comment quayside-${instance}`
  return {
    program,
    chain: 'QUAYSIDE-HOST',
    ways: bridges.map((bridge) => `INPUT -i ${bridge}`),
    passes: [
      '-m conntrack --ctstate RELATED,ESTABLISHED -j RETURN',
      `-p ${program === 'iptables' ? 'icmp' : 'ipv6-icmp'} -j RETURN`,
      ...['udp', 'tcp'].map((protocol) => `-p ${protocol} -m ${protocol} --dport 53 -j RETURN`),
      ...open.map((ports) => `${portMatch(ports)} ${comment} -j RETURN`),
    ],
    refusals: ['-p tcp -j REJECT --reject-with tcp-reset', `-j REJECT --reject-with ${refused[program]}`],
    replaces: comment,
  }
}

const portMatch = ({ first, last, protocol }: OpenPorts): string =>
  `-p ${protocol} -m ${protocol} --dport ${first === last ? first : `${first}:${last}`}`

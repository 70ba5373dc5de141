import type { Guard } from './packet-filter.ts'

/**
 * The addresses at which clouds serve a machine's credentials: the one of most clouds, tasks of
 * Amazon ECS, Alibaba, and the wire server of Azure. Some also resolve names on port 53, which
 * stays open.
 */
const addresses = ['169.254.169.254', '169.254.170.2', '100.100.100.200', '168.63.129.16']

/** Pure: rejects TCP from these bridges to the metadata services of clouds. */
export const metadataGuard = (bridges: readonly string[]): Guard => ({
  program: 'iptables',
  chain: 'QUAYSIDE-METADATA',
  ways: bridges.map((bridge) => `DOCKER-USER -i ${bridge}`),
  refusals: addresses.map((address) => `-d ${address}/32 -p tcp -m tcp ! --dport 53 -j REJECT --reject-with tcp-reset`),
})

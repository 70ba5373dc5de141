import type { Guard } from './packet-filter.ts'

/**
 * Where clouds tell a machine of its credentials: most of them, tasks of Amazon ECS, Alibaba, and the wire server of Azure. Some answer for
 * names there, too, on port 53: that stays open.
 */
const addresses = ['169.254.169.254', '169.254.170.2', '100.100.100.200', '168.63.129.16']

/** Pure: refuses TCP to the metadata of clouds to what comes from these bridges. */
export const metadataGuard = (bridges: readonly string[]): Guard => ({
  program: 'iptables',
  chain: 'QUAYSIDE-METADATA',
  ways: bridges.map((bridge) => `DOCKER-USER -i ${bridge}`),
  refusals: addresses.map((address) => `-d ${address}/32 -p tcp -m tcp ! --dport 53 -j REJECT --reject-with tcp-reset`),
})

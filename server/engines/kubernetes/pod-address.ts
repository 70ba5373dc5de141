import { BlockList, isIP, isIPv6 } from 'node:net'

/**
 * Addresses that no pod has. Behind them are the machine itself and metadata services of clouds.
 */
const neverPods = new BlockList()
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 3],
] as const) {
  neverPods.addSubnet(network, bits, 'ipv4')
}
for (const [network, bits] of [
  ['::', 127],
  ['fe80::', 10],
  ['ff00::', 8],
  ['fd00:ec2::', 32],
] as const) {
  neverPods.addSubnet(network, bits, 'ipv6')
}

/**
 * Returns the address of a pod as an API server reports it. Undefined for anything that is not one.
 * The server may belong to somebody who wants the platform to connect elsewhere.
 */
export function podAddress(text: unknown): string | undefined {
  if (typeof text !== 'string' || isIP(text) === 0 || text.includes('%')) return undefined
  return neverPods.check(text, isIPv6(text) ? 'ipv6' : 'ipv4') ? undefined : text
}

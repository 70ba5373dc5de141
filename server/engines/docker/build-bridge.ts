import type { Guard } from './packet-filter.ts'

const routed = '-m physdev ! --physdev-is-bridged -j DROP'

/**
 * Pure: drops packets that the host would route back to the bridge of build steps. The ports of
 * steps are isolated on the bridge (server/builders/docker/step-ports.ts), so this is the only way
 * left from one step to another. Containers on that bridge reach each other without the host, as
 * before: if the filter sees bridged packets too, the rules distinguish them.
 */
export const buildGuard = (bridge: string, seesBridged: boolean): Guard => ({
  program: 'iptables',
  chain: 'QUAYSIDE-BUILDS',
  ways: [`DOCKER-USER -i ${bridge} -o ${bridge}`],
  refusals: [seesBridged ? routed : '-j DROP'],
  replaces: '-j DROP',
})

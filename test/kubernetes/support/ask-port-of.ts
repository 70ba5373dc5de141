import type { RoutePort } from '@quayside/contract/routes.ts'
import type { Router } from '../../../server/routers/index.ts'
import { askPort } from '../../support/ask-port.ts'

/** A program that answers every datagram at port 8080 with a name. */
export const datagrams = (name: string): string =>
  `;const u=require('dgram').createSocket('udp4');` +
  `u.on('message',(m,f)=>u.send(${JSON.stringify(name)},f.port,f.address)).bind(8080)`

/** Asks a port of a router's table at the address that the cluster gave it. */
export async function askPortOf(
  router: Router,
  { protocol, port }: RoutePort,
  signal: AbortSignal,
): Promise<string | undefined> {
  const found = (await router.portAddresses(signal)).find((one) => one.port === port)
  return found && 'host' in found.reached ? askPort({ protocol, ...found.reached }) : undefined
}

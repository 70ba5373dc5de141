/** The address and the ports of a router. */
interface Ports {
  readonly host: string
  readonly port: number
  readonly tls?: { readonly port: number } | undefined
}

/** One of these settings alone turns the usual addresses of a domain off, and HTTPS with them. */
const allThree = 'QUAYSIDE_ROUTER_HOST, QUAYSIDE_ROUTER_PORT and QUAYSIDE_ROUTER_TLS_PORT'

/** Pure: says that another program has a port of the router, and what to do. */
export const portInUseText = ({ host, port, tls }: Ports): string =>
  tls === undefined
    ? `Port ${port} on ${host}, where applications are to answer, is in use. End the program that uses it or set ` +
      'QUAYSIDE_ROUTER_PORT to another port.'
    : `Port ${port} or ${tls.port} on ${host}, where applications are to answer, is in use. End the program that ` +
      `uses it (npm run doctor shows which port it is), or set other ports: ${allThree}, all three.`

/** Pure: says that the user of the server may not open a port of the router, and what to do. */
export function portForbiddenText({ port, tls }: Ports): string {
  const ports = `${port}${tls ? ` or ${tls.port}` : ''}`
  const last = tls
    ? `set ports from 1024 on: ${allThree}, all three, and the ports that clients use (docs/operate.md, ` +
      'QUAYSIDE_ROUTER_PUBLIC_PORT).'
    : 'set QUAYSIDE_ROUTER_PORT to a port from 1024 on.'
  return (
    `This user may not listen on port ${ports}. Run as root, allow it with ` +
    `sysctl -w net.ipv4.ip_unprivileged_port_start=${Math.min(port, tls?.port ?? port)}, or ${last}`
  )
}

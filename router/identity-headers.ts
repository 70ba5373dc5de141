/** Headers in which a gateway names the signed-in person, in lower case. */
interface Gateway {
  readonly prefixes?: readonly string[]
  readonly names?: readonly string[]
}

/**
 * The headers of known gateways. Applications behind the sign-in get none of them from clients,
 * because an application that was made for one of these gateways believes them. Names with an
 * underscore in place of a minus sign never reach an application, so they are not listed.
 */
const gateways: Readonly<Record<string, Gateway>> = {
  'Authelia, nginx, Apache': { prefixes: ['remote-', 'x-authelia-'] },
  'Kubernetes, Home Assistant': { prefixes: ['x-remote-'] },
  'OAuth2 Proxy': { prefixes: ['x-auth-request-'] },
  'Keycloak Gatekeeper': {
    prefixes: ['x-auth-user', 'x-auth-email', 'x-auth-group', 'x-auth-role', 'x-auth-subject', 'x-auth-name'],
    names: ['x-auth-audience'],
  },
  'Grafana, Gitea': { prefixes: ['x-webauth-'] },
  Authentik: { prefixes: ['x-authentik-'] },
  'Cloudflare Access': { prefixes: ['cf-access-'] },
  'Google Identity-Aware Proxy': { prefixes: ['x-goog-iap-', 'x-goog-authenticated-user-'] },
  'Google API Gateway': { names: ['x-apigateway-api-userinfo', 'x-endpoint-api-userinfo'] },
  'Amazon load balancers, Verified Access': { prefixes: ['x-amzn-oidc-', 'x-amzn-ava-', 'x-amzn-mtls-'] },
  'Azure App Service': { prefixes: ['x-ms-client-principal', 'x-ms-token-'], names: ['x-arr-clientcert'] },
  Pomerium: { prefixes: ['x-pomerium-'] },
  Vouch: { prefixes: ['x-vouch-'] },
  Tailscale: { prefixes: ['tailscale-', 'x-tailscale-'] },
  'Caddy Security': { prefixes: ['x-token-'] },
  Kong: {
    prefixes: ['x-consumer-', 'x-authenticated-'],
    names: ['x-credential-identifier', 'x-anonymous-consumer'],
  },
  'Apache APISIX': { names: ['x-userinfo'] },
  mod_auth_openidc: { prefixes: ['oidc-', 'x-oidc-'] },
  'Ory Oathkeeper and others': {
    prefixes: ['x-user-id', 'x-user-name', 'x-user-email', 'x-user-login', 'x-user-group', 'x-user-role'],
    names: ['x-user', 'x-username', 'x-email', 'x-groups'],
  },
  'Certificates of clients': {
    prefixes: ['ssl-client-', 'x-ssl-client-', 'x-client-cert', 'client-cert'],
  },
  SiteMinder: { prefixes: ['sm-', 'smuser'] },
  Shibboleth: { prefixes: ['shib-', 'x-shib-'] },
  'IBM Verify Access': { prefixes: ['iv-'] },
  'Oracle Access Manager': { prefixes: ['oam-'] },
  Teleport: { prefixes: ['teleport-', 'x-teleport-'] },
  Warpgate: { prefixes: ['x-warpgate-'] },
  Sandstorm: { prefixes: ['x-sandstorm-'] },
  YunoHost: { prefixes: ['ynh-'] },
  'Proxies in general': { prefixes: ['x-proxy-remote-', 'x-proxy-user'] },
}

/**
 * What a proxy says about a connection. Traefik, OAuth2 Proxy and others name the person by other
 * names with this beginning, so all of them are dropped.
 */
const aboutConnection = new Set([
  ...['for', 'proto', 'host', 'port', 'prefix', 'scheme', 'ssl', 'server', 'by', 'method', 'uri', 'path'].map(
    (fact) => `x-forwarded-${fact}`,
  ),
])

const all = Object.values(gateways)
const prefixes = all.flatMap(({ prefixes = [] }) => prefixes)
const names = new Set(all.flatMap(({ names = [] }) => names))

/** Whether a header may tell an application who is signed in. The name is in lower case. */
export const isIdentityName = (lower: string): boolean =>
  names.has(lower) ||
  (lower.startsWith('x-forwarded-') && !aboutConnection.has(lower)) ||
  prefixes.some((prefix) => lower.startsWith(prefix))

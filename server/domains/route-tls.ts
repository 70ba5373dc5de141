import type { Route } from '@quayside/contract/routes.ts'
import { settingsOfKind } from '@quayside/contract/services/advanced-settings.ts'
import type { KindName } from '@quayside/contract/services/kinds.ts'
import { effectiveSettings, type SettingValues } from '@quayside/contract/services/setting-table.ts'

/** The columns that decide how the host of a route gets a certificate. */
export interface TlsRow {
  /** Whether the cluster carries its traffic under a domain of its own. */
  readonly has_domain: boolean
  /** Whether routers of the platform in the cluster carry it over TLS. */
  readonly has_own_tls: boolean
  readonly tls_secret: string | null
  readonly tls_issuer: string | null
  readonly tls_by_controller: boolean
  /** Null for one of the platform's own names. */
  readonly generate_certificate: boolean | null
  /** Whether a user uploaded a certificate for the custom domain. */
  readonly has_upload: boolean
}

const redirecting = 'network.ingress.force_ssl_redirect'

/**
 * Pure: returns the certificate of a route. A name of the cluster's domain has the Secret that the
 * cluster names, or the certificate of its controller, or one of its issuer. A custom domain has
 * one of the issuer if the user wants it. The platform's own routers have a certificate for each of
 * their names and for custom domains whose users want or uploaded one, if they speak TLS. The
 * cluster may say that something in front of its routers has those of its domain.
 */
export function tlsMember(
  row: TlsRow & { readonly kind: KindName; readonly wishes: SettingValues },
  speaksTls = false,
): Pick<Route, 'tls'> {
  const from = sourceOf(row, speaksTls)
  if (from === undefined) return {}
  const settings = effectiveSettings(settingsOfKind(row.kind), row.wishes)
  return { tls: { from, redirects: settings[redirecting] === true } }
}

function sourceOf(row: TlsRow, speaksTls: boolean): NonNullable<Route['tls']>['from'] | undefined {
  const { has_domain, has_own_tls, tls_secret, tls_issuer, tls_by_controller, generate_certificate, has_upload } = row
  if (has_domain && has_own_tls && tls_by_controller && generate_certificate === null) return 'controller'
  const isSecured = has_domain ? has_own_tls : speaksTls
  if (!has_domain || has_own_tls) {
    return isSecured && (has_upload || (generate_certificate ?? true)) ? 'platform' : undefined
  }
  const byIssuer = tls_issuer === null ? undefined : { issuer: tls_issuer }
  if (generate_certificate !== null) return generate_certificate ? byIssuer : undefined
  if (tls_secret !== null) return { secret: tls_secret }
  return tls_by_controller ? 'controller' : byIssuer
}

import type { Secret } from '../../../lib/secret.ts'

/** How to reach the API server of one cluster, from its kubeconfig. */
export interface KubeAccess {
  /** `https://host:port`, with a path if the server is behind one. */
  readonly server: string
  /** Certificates of the authority that signed the server's (PEM). Undefined for a public one. */
  readonly authority?: string | undefined
  /** The name that the server's certificate must have, if it is not the host's. */
  readonly serverName?: string | undefined
  /** A bearer token. Undefined if a client certificate is used instead. */
  readonly token?: Secret | undefined
  /** Reads a token that changes, for every request. Used instead of `token`. */
  readonly readToken?: (() => Promise<Secret>) | undefined
  /** A client certificate (PEM) and its key. */
  readonly certificate?: string | undefined
  readonly key?: Secret | undefined
}

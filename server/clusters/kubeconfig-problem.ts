import { parse } from 'yaml'

/** How to reach a cluster, from its kubeconfig. Plain data, because a worker returns it. */
export interface KubeconfigAccess {
  readonly server: string
  readonly authority?: string
  readonly serverName?: string
  readonly token?: string
  readonly certificate?: string
  readonly key?: string
}

/** Either the way to a cluster, or why a kubeconfig is not accepted and what to do. */
export type KubeconfigReading = { readonly access: KubeconfigAccess } | { readonly problem: string }

type Part = Readonly<Record<string, unknown>>

/** Fields of a cluster or a user that are not accepted, with the reason. */
const refusedOfCluster: Readonly<Record<string, string>> = {
  'insecure-skip-tls-verify': 'the server must prove who it is; set certificate-authority-data instead',
  'certificate-authority': 'files of another machine cannot be read; use certificate-authority-data',
  'proxy-url': 'the cluster is reached without a proxy; remove it',
}
const refusedOfUser: Readonly<Record<string, string>> = {
  exec: 'no program is started for it; create a token of a service account instead',
  'auth-provider': 'no provider is asked for it; create a token of a service account instead',
  'client-certificate': 'files of another machine cannot be read; use client-certificate-data',
  'client-key': 'files of another machine cannot be read; use client-key-data',
  tokenFile: 'files of another machine cannot be read; use token',
  username: 'Kubernetes no longer accepts passwords; use a token',
  password: 'Kubernetes no longer accepts passwords; use a token',
  as: 'the platform acts as one user only; remove it',
  'as-groups': 'the platform acts as one user only; remove it',
  'as-uid': 'the platform acts as one user only; remove it',
}

/**
 * Reads a kubeconfig: the cluster and the user of its current context. Runs in a worker, because
 * the time to parse YAML can grow with the square of its length.
 */
export function readKubeconfig(text: string): KubeconfigReading {
  let config: Part
  try {
    config = Object(parse(text, { maxAliasCount: 100 }))
  } catch {
    return { problem: 'The body is not valid YAML.' }
  }
  if (config['apiVersion'] !== 'v1' || config['kind'] !== 'Config') {
    return { problem: 'The body must be a kubeconfig: apiVersion v1, kind Config.' }
  }
  const missing = ['clusters', 'contexts', 'users'].find((part) => !Array.isArray(config[part]))
  if (missing) return { problem: `The body must be a kubeconfig: ${missing} is missing.` }
  const context = findPart(config, 'contexts', config['current-context'], 'context')
  if (!context) return { problem: 'current-context must name one of the contexts.' }
  const cluster = findPart(config, 'clusters', context['cluster'], 'cluster')
  if (!cluster) return { problem: 'The cluster of the current context is missing.' }
  const user = findPart(config, 'users', context['user'], 'user')
  if (!user) return { problem: 'The user of the current context is missing.' }
  const refused = refusal(cluster, refusedOfCluster) ?? refusal(user, refusedOfUser)
  return refused ? { problem: refused } : accessOf(cluster, user)
}

/** Returns the first refused field that is set to something. */
function refusal(part: Part, table: Readonly<Record<string, string>>): string | undefined {
  const found = Object.keys(table).find((field) => ![undefined, null, false, ''].includes(part[field] as never))
  return found && `${found} is not accepted: ${table[found]}.`
}

function findPart(config: Part, list: string, name: unknown, member: string): Part | undefined {
  if (typeof name !== 'string') return undefined
  // Each list was checked to be an array.
  const found = (config[list] as unknown[]).find((one) => Object(one).name === name)
  const part: unknown = Object(found)[member]
  return typeof part === 'object' && part !== null ? (part as Part) : undefined
}

function accessOf(cluster: Part, user: Part): KubeconfigReading {
  const server = URL.parse(String(cluster['server'] ?? ''))
  if (server?.protocol !== 'https:') return { problem: 'server must be an address that begins with https://.' }
  if (server.username !== '' || server.password !== '') return { problem: 'server must not contain a password.' }
  const authority = pem(cluster['certificate-authority-data'], 'CERTIFICATE')
  const certificate = pem(user['client-certificate-data'], 'CERTIFICATE')
  const key = pem(user['client-key-data'], 'PRIVATE KEY')
  const wrong = Object.entries({
    'certificate-authority-data': authority,
    'client-certificate-data': certificate,
    'client-key-data': key,
  }).find(([, value]) => value === null)
  if (wrong) return { problem: `${wrong[0]} must be base64 of a text in PEM.` }
  const token = user['token']
  const hasToken = typeof token === 'string' && /^[\x21-\x7e]{1,65536}$/.test(token)
  if (!hasToken && !(certificate && key)) {
    return { problem: 'The user needs a token, or client-certificate-data and client-key-data.' }
  }
  const serverName = cluster['tls-server-name']
  return {
    access: {
      server: `${server.origin}${server.pathname.replace(/\/$/, '')}`,
      ...(authority && { authority }),
      ...(typeof serverName === 'string' && serverName !== '' && { serverName }),
      ...(hasToken ? { token } : certificate && key && { certificate, key }),
    },
  }
}

/** Returns a text in PEM from base64. Undefined if there is none, null if it is something else. */
function pem(value: unknown, kind: string): string | undefined | null {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string') return null
  const text = Buffer.from(value, 'base64').toString()
  return text.includes('-----BEGIN ') && text.includes(`${kind}-----`) ? text : null
}

import { join } from 'node:path'
import { run } from '../../../server/lib/run.ts'
import { environment, kubectl } from '../cluster/commands.ts'
import { certManagerCache, certManagerKinds } from '../cluster/settings.ts'
import type { TestCertificate } from './make-certificate.ts'

/** cert-manager on the test cluster. */
export interface CertManager {
  /** Ends its controllers and removes its kinds, with all their objects. */
  close(): Promise<void>
}

/** Adds the kinds of cert-manager to the test cluster, without a program that acts on them. */
export const installKinds = (): Promise<string> => kubectl(['apply', '--server-side', '-f', certManagerKinds])
export const removeKinds = (): Promise<string> =>
  kubectl(['delete', '-f', certManagerKinds, '--ignore-not-found', '--timeout=60s'], { timeoutMs: 90_000 })

/**
 * Starts the controllers of cert-manager beside the cluster. Secrets of ClusterIssuers are in
 * `namespace`.
 */
export function startCertManager(namespace: string): CertManager {
  const stop = new AbortController()
  const ended = run(join(certManagerCache, 'cert-manager'), [namespace], {
    env: environment,
    signal: stop.signal,
    timeoutMs: 20 * 60_000,
  }).then(
    ({ stderr }) => {
      throw new Error(`cert-manager ended:\n${stderr}`)
    },
    (error: unknown) => {
      if (!stop.signal.aborted) throw error
    },
  )
  // The end is reported by `close`.
  ended.catch(() => {})
  return {
    close: async () => {
      stop.abort()
      await ended
      await removeKinds()
    },
  }
}

/** Creates a ClusterIssuer that signs with this certificate. */
export async function makeIssuer(name: string, namespace: string, { cert, key }: TestCertificate): Promise<void> {
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace },
    type: 'kubernetes.io/tls',
    data: { 'tls.crt': base64(cert), 'tls.key': base64(key) },
  }
  const issuer = {
    apiVersion: 'cert-manager.io/v1',
    kind: 'ClusterIssuer',
    metadata: { name },
    spec: { ca: { secretName: name } },
  }
  const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [secret, issuer] })
  await kubectl(['apply', '-f', '-'], { stdin })
}

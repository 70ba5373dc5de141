import type { RegistryLogin } from '../engine.ts'
import type { KubeObject } from './client/index.ts'
import { label, ownLabels } from './labels.ts'
import { namespaceOf } from './names.ts'

/** The registry from which the nodes of a cluster take images. */
export interface PullRegistry {
  /** `host/path`. */
  readonly repository: string
  /** Reads the credentials. Undefined if the registry needs none. */
  readonly login: () => Promise<RegistryLogin | undefined>
}

/** The Secret with the credentials of the registry, in each namespace. */
export const pullSecretName = 'quayside-registry'

/** Returns that Secret. A user of the cluster who may read Secrets there can read the password. */
export function pullSecret(
  environment: string,
  instance: string,
  registry: { readonly repository: string; readonly login: RegistryLogin },
): KubeObject & { readonly data: object } {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: pullSecretName,
      namespace: namespaceOf(environment),
      labels: ownLabels(instance, { [label.environment]: environment }),
    },
    ...{ type: 'kubernetes.io/dockerconfigjson' },
    data: { '.dockerconfigjson': Buffer.from(pullConfig(registry)).toString('base64') },
  }
}

/** Returns a Docker configuration with the credentials of a registry. It is a secret. */
export function pullConfig({
  repository,
  login: { username, password },
}: {
  readonly repository: string
  readonly login: RegistryLogin
}): string {
  const [host = ''] = repository.split('/')
  const auth = Buffer.from(`${username}:${password.reveal()}`).toString('base64')
  return JSON.stringify({ auths: { [host]: { username, password: password.reveal(), auth } } })
}

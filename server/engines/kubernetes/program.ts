import { Secret } from '../../lib/secret.ts'
import type { Probe, Workload } from '../engine.ts'
import { addedCapabilities, checkedVariables, checkPaths } from '../program-rules.ts'
import type { KubeObject } from './client/index.ts'

/** The name of the container in which the program of a pod runs. */
export const mainContainer = 'main'

/**
 * The least ephemeral storage that a node must have free. The limit of a program is far higher, and
 * would be asked for as a whole otherwise.
 */
const leastEphemeral = '64Mi'

/** Variables and files of a program, in one Secret. */
export interface Contents {
  /** Values by keys, in base64. */
  readonly data: Readonly<Record<string, string>>
  readonly env: readonly object[]
  readonly mounts: readonly object[]
}

/**
 * Returns the variables and files of a program, with the references to them. Variables come from a
 * Secret, because Kubernetes expands `$(NAME)` in values that are written into the pod. Throws
 * EngineError('refused') if a program cannot receive one of them.
 */
export function contentsOf(workload: Workload, secretName: string): Contents {
  checkPaths(workload)
  const variables = checkedVariables(workload).map(([name, text], index) => ({ name, text, key: `variable-${index}` }))
  const files = workload.files.map(({ path, content }, index) => ({
    path,
    text: content instanceof Secret ? content.reveal() : content,
    key: `file-${index}`,
  }))
  return {
    data: Object.fromEntries(
      [...variables, ...files].map(({ key, text }) => [key, Buffer.from(text).toString('base64')]),
    ),
    env: variables.map(({ name, key }) => ({ name, valueFrom: { secretKeyRef: { name: secretName, key } } })),
    mounts: files.map(({ path, key }) => ({ name: 'files', mountPath: path, subPath: key, readOnly: true })),
  }
}

/** Returns the Secret with the contents of a program. */
export const contentsSecret = (metadata: KubeObject['metadata'], { data }: Contents) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'Opaque',
  metadata,
  data,
})

/** Returns the container of a program, without what only one shape has. */
export function programContainer(workload: Workload, { env, mounts }: Contents): Record<string, unknown> {
  const { image, entrypoint, arguments: words, cpuMilli, memoryMiB, layerGiB, hasReadOnlyRoot } = workload
  const limits = {
    cpu: `${cpuMilli}m`,
    memory: `${memoryMiB}Mi`,
    ...(layerGiB !== undefined && { 'ephemeral-storage': `${layerGiB}Gi` }),
  }
  return {
    name: mainContainer,
    image,
    imagePullPolicy: 'IfNotPresent',
    ...(entrypoint && { command: entrypoint.map(literal) }),
    ...(words.length > 0 && { args: words.map(literal) }),
    env,
    volumeMounts: mounts,
    resources: {
      limits,
      requests: { ...limits, ...(layerGiB !== undefined && { 'ephemeral-storage': leastEphemeral }) },
    },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'], add: addedCapabilities },
      seccompProfile: { type: 'RuntimeDefault' },
      ...(hasReadOnlyRoot && { readOnlyRootFilesystem: true }),
    },
    terminationMessagePolicy: 'File',
  }
}

/** Writes a word of a command so that Kubernetes expands nothing in it: `$(A)` becomes `$$(A)`. */
export const literal = (word: string): string => word.replaceAll('$', '$$$$')

/** Returns what every pod of the platform has, whatever runs in it. */
export const podSettings = (pullSecret: string | undefined) => ({
  automountServiceAccountToken: false,
  // Variables with the address of every service of the namespace would change the program's own.
  enableServiceLinks: false,
  ...(pullSecret !== undefined && { imagePullSecrets: [{ name: pullSecret }] }),
})

/** Returns a probe in the form of Kubernetes. Ports of HTTPS are asked without a check of names. */
export function kubeProbe({ check, ...times }: Probe): Record<string, unknown> {
  const { initialDelaySeconds, periodSeconds, timeoutSeconds, successThreshold, failureThreshold } = times
  return {
    ...checkOf(check),
    initialDelaySeconds,
    periodSeconds: Math.max(1, periodSeconds),
    timeoutSeconds: Math.max(1, timeoutSeconds),
    successThreshold: Math.max(1, successThreshold),
    failureThreshold: Math.max(1, failureThreshold),
  }
}

function checkOf(check: Probe['check']): Record<string, unknown> {
  switch (check.type) {
    case 'tcp':
      return { tcpSocket: { port: check.port } }
    case 'http':
      return { httpGet: { path: check.path, port: check.port, scheme: check.scheme } }
    case 'exec':
      return { exec: { command: check.command } }
    case 'grpc':
      return { grpc: { port: check.port, ...(check.service && { service: check.service }) } }
  }
}

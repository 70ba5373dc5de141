/** The settings of a router in a pod of a cluster. */
export interface PodConfig {
  /** The control plane talks to this port, at the pod's loopback address only. */
  readonly controlPort: number
  /** Path of the file with the key that every control request must have. */
  readonly keyFile: string
  /** The cluster asks this port whether the router may get requests. */
  readonly readyPort: number
  /** Path of the folder with the table that the control plane keeps for new pods. */
  readonly stored: string
  /** The same for certificates with their keys. Undefined: they are in memory only. */
  readonly storedCertificates?: string
  /**
   * How long connections are still accepted after the pod was asked to end. Nodes learn of its end
   * on their own.
   */
  readonly leaveMs: number
}

/** The flags of a router in a pod, for `parseArgs`. */
export const podFlags = {
  'control-port': { type: 'string' },
  'control-key': { type: 'string' },
  'ready-port': { type: 'string' },
  stored: { type: 'string' },
  'stored-certificates': { type: 'string' },
  'leave-seconds': { type: 'string', default: '0' },
} as const

type PodValues = { readonly [Flag in keyof typeof podFlags]?: string | undefined }

/**
 * Reads the flags of a router in a pod. Returns undefined without `--control-port`. Throws an Error
 * that names the missing or invalid flag.
 */
export function parsePodConfig(values: PodValues): PodConfig | undefined {
  if (values['control-port'] === undefined) return undefined
  return {
    controlPort: portIn(values, 'control-port'),
    keyFile: pathIn(values, 'control-key'),
    readyPort: portIn(values, 'ready-port'),
    stored: pathIn(values, 'stored'),
    ...(values['stored-certificates'] !== undefined && {
      storedCertificates: pathIn(values, 'stored-certificates'),
    }),
    leaveMs: secondsIn(values, 'leave-seconds') * 1000,
  }
}

function portIn(values: PodValues, flag: keyof PodValues): number {
  const text = values[flag] ?? ''
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > 65_535) throw new Error(`--${flag} "${text}" is not a port number`)
  return port
}

function pathIn(values: PodValues, flag: keyof PodValues): string {
  const path = values[flag]
  if (!path) throw new Error(`--${flag} is missing: a path, with --control-port`)
  return path
}

function secondsIn(values: PodValues, flag: keyof PodValues): number {
  const text = values[flag] ?? ''
  if (!/^\d{1,3}$/.test(text)) throw new Error(`--${flag} "${text}" is not a number of seconds`)
  return Number(text)
}

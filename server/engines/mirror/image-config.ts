import { parseForeign } from '../../lib/foreign-json.ts'
import { mostConfigBytes } from '../docker/registry/manifest.ts'

/** The parts of an image's configuration that builds depend on. */
export interface ImageConfig {
  readonly labels: Readonly<Record<string, unknown>>
  readonly onBuild: readonly string[]
  /** `linux/amd64`. */
  readonly platform: string
  /** Undefined if the image does not say it. */
  readonly created: Date | undefined
}

/** Reads a configuration, which anybody may have written. */
export function imageConfig(bytes: Buffer): ImageConfig {
  const { os, architecture, created, config } = Object(parsed(bytes))
  const { Labels, OnBuild } = Object(config)
  const at = new Date(String(created))
  return {
    labels: Object(Labels),
    onBuild: Array.isArray(OnBuild) ? OnBuild.map(String) : [],
    platform: `${os}/${architecture}`,
    created: Number.isNaN(at.getTime()) ? undefined : at,
  }
}

function parsed(bytes: Buffer): unknown {
  try {
    return parseForeign(bytes, { bytes: mostConfigBytes })
  } catch {
    return undefined
  }
}

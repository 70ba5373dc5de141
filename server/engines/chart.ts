import type { Secret } from '../lib/secret.ts'
import type { ChartPort } from './chart-ports.ts'

/** The files of a chart by their path inside it: `Chart.yaml`, `templates/web.yaml`. */
export type ChartFiles = ReadonlyMap<string, Buffer>

/** A service whose shape is `chart`. */
export interface ChartPlace {
  readonly service: string
  readonly environment: string
  /** A readable name for people. */
  readonly displayName: string
  /** Whether it may have objects outside of the namespace of its environment. */
  readonly isClusterWide: boolean
}

/** An immutable version of a chart with its values, ready to be installed. */
export interface ChartRelease extends ChartPlace {
  readonly id: string
  readonly files: ChartFiles
  /** All values of users as one JSON object. */
  readonly values: Secret
  /** Texts that no line and no message may contain. */
  readonly secrets: readonly Secret[]
  /** Arguments that users wrote for the installation. */
  readonly arguments: readonly string[]
  readonly timeoutSeconds: number
  /** The public ports, which must lead to Services or pods of the chart. */
  readonly ports: readonly ChartPort[]
}

/** One object that a chart renders: plain JSON in the form of Kubernetes. */
export interface RenderedObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly [field: string]: unknown
}

/** A Kubernetes Service of an installed chart. */
export interface ChartService {
  readonly name: string
  readonly type: string
  readonly ports: readonly {
    readonly name: string
    readonly port: number
    /** The port of its pods, or the name that they give it. */
    readonly target: number | string
  }[]
  readonly selectors: readonly { readonly key: string; readonly value: string }[]
}

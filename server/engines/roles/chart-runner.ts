import type { Attempt } from '../../lib/attempt.ts'
import type { ChartPlace, ChartRelease, ChartService, RenderedObject } from '../chart.ts'
import type { ChartChange } from '../chart-change.ts'

/**
 * Runs Helm charts. An engine with the shape `chart` has it. Every call may be repeated and throws
 * EngineError. No secret of a release is in a message or a line.
 */
export interface ChartRunner {
  /**
   * Returns the objects of the chart with its values, after all checks. Nothing is changed. Throws
   * EngineError('refused') with the name of an object that may not or cannot be created.
   */
  render(release: ChartRelease, attempt: Attempt): Promise<readonly RenderedObject[]>
  /**
   * Returns what an installation of these objects would change. CustomResourceDefinitions are left
   * out. Values of Secrets are not returned; the caller masks other secrets.
   */
  diff(release: ChartRelease, objects: readonly RenderedObject[], attempt: Attempt): Promise<readonly ChartChange[]>
  /**
   * Installs the objects, or replaces those of the previous release, and waits until they are
   * ready. An installation that a killed process left open is put right first. If it fails, the
   * objects of the previous release are restored.
   */
  install(release: ChartRelease, objects: readonly RenderedObject[], attempt: Attempt): Promise<void>
  /**
   * Restores the last release that was installed completely, if a newer one was not. The release
   * `failed` is not such a one. Without one, removes what was installed.
   */
  restore(place: ChartPlace, failed: string | undefined, attempt: Attempt): Promise<void>
  /** Ends all programs of the chart. Its objects and its data stay. */
  scaleToZero(place: ChartPlace, attempt: Attempt): Promise<void>
  /** Removes all objects of the chart, with its volumes unless these are to be kept. */
  uninstall(place: ChartPlace, keepsVolumes: boolean, attempt: Attempt): Promise<void>
  /** Lists the Kubernetes Services of the chart. */
  listServices(place: ChartPlace, signal: AbortSignal): Promise<readonly ChartService[]>
}

import type { RouteTable } from '@quayside/contract/routes.ts'
import { findSecret } from './find-secret.ts'
import { Keeper } from './keeper.ts'
import { tableContent } from './kept-content.ts'
import { keptTable, keptVersionAnnotation } from './kept-objects.ts'
import type { PodKube } from './pod-kube.ts'
import type { RouterObjectSetting } from './router-objects.ts'

export interface KeepingOptions {
  readonly kube: PodKube
  readonly setting: RouterObjectSetting
}

/** What a cluster keeps for routers that start while the platform is away. */
export class Keeping {
  readonly #options: KeepingOptions
  readonly #table: Keeper
  #version = 0
  #isTooLarge = false

  constructor(options: KeepingOptions) {
    this.#options = options
    this.#table = new Keeper(options.kube, options.setting, keptTable)
  }

  /** Whether the last table is too large to be kept. */
  get isTooLarge(): boolean {
    return this.#isTooLarge
  }

  /** Reads the version of the table that the cluster keeps, 0 without one. */
  async readVersion(signal: AbortSignal): Promise<number> {
    const { kube, setting } = this.#options
    const found = await findSecret(kube, setting, keptTable.secret, signal)
    const version = Number(found?.metadata.annotations?.[keptVersionAnnotation])
    this.#version = Number.isSafeInteger(version) && version > 0 ? version : 0
    return this.#version
  }

  /** Keeps a table, unless the cluster has this version. */
  async keep(table: RouteTable, signal: AbortSignal): Promise<void> {
    if (this.#version === table.version) return
    this.#isTooLarge = !(await this.#table.keep(tableContent(table), signal))
    this.#version = table.version
  }
}

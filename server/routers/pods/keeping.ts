import { createHash } from 'node:crypto'
import type { RouteTable } from '@quayside/contract/routes.ts'
import type { TlsSource } from '../tls-source.ts'
import { findSecret } from './find-secret.ts'
import { Keeper } from './keeper.ts'
import { certificateContent, tableContent } from './kept-content.ts'
import { keptCertificates, keptTable, keptVersionAnnotation } from './kept-objects.ts'
import type { PodKube } from './pod-kube.ts'
import { keepsCertificates, type RouterObjectSetting } from './router-objects.ts'

export interface KeepingOptions {
  readonly kube: PodKube
  readonly setting: RouterObjectSetting
  /** The certificates of the cluster's hosts. Without it, the routers speak HTTP only. */
  readonly certificates?: Pick<TlsSource, 'mark' | 'kept'> | undefined
}

/** The documents that a cluster keeps for routers that start while the platform is away. */
export class Keeping {
  readonly #options: KeepingOptions
  readonly #table: Keeper
  readonly #certificates: Keeper
  #version = 0
  /** The mark and the digest of the kept certificates. */
  #mark: string | undefined
  #digest: string | undefined
  #areTooLarge = false
  #isTooLarge = false

  constructor(options: KeepingOptions) {
    this.#options = options
    this.#table = new Keeper(options.kube, options.setting, keptTable)
    this.#certificates = new Keeper(options.kube, options.setting, keptCertificates)
  }

  /** Whether the last table is too large to be kept. */
  get isTooLarge(): boolean {
    return this.#isTooLarge
  }

  /** Whether the last certificates are too large to be kept. */
  get areCertificatesTooLarge(): boolean {
    return this.#areTooLarge
  }

  /** Reads the version of the table that the cluster keeps, 0 without one. */
  async readVersion(signal: AbortSignal): Promise<number> {
    const { kube, setting } = this.#options
    const found = await findSecret(kube, setting, keptTable.secret, signal)
    const version = Number(found?.metadata.annotations?.[keptVersionAnnotation])
    this.#version = Number.isSafeInteger(version) && version > 0 ? version : 0
    return this.#version
  }

  /** Keeps the certificates and a table, unless the cluster has them. */
  async keep(table: RouteTable, signal: AbortSignal): Promise<void> {
    // First, so that the hosts of the table have theirs.
    await this.#keepCertificates(signal)
    if (this.#version === table.version) return
    this.#isTooLarge = !(await this.#table.keep(tableContent(table), signal))
    this.#version = table.version
  }

  /** Forgets what the cluster has: somebody may have removed it together with the routers. */
  forget(): void {
    this.#version = 0
    this.#mark = undefined
    this.#digest = undefined
    this.#table.forget()
    this.#certificates.forget()
  }

  /** Removes kept certificates that the operator does not want to be kept. */
  async dropUnwanted(signal: AbortSignal): Promise<void> {
    if (!keepsCertificates(this.#options.setting)) await this.#certificates.drop(signal)
  }

  async #keepCertificates(signal: AbortSignal): Promise<void> {
    const { certificates, setting } = this.#options
    if (!certificates || !keepsCertificates(setting)) return
    const mark = await certificates.mark()
    if (mark === this.#mark) return
    const kept = await certificates.kept?.()
    // Without the key of the platform, the cluster keeps what it has.
    if (!kept) return
    // Challenges change the mark too.
    const digest = createHash('sha256').update(JSON.stringify(kept)).digest('base64url')
    if (digest !== this.#digest) {
      this.#areTooLarge = !(await this.#certificates.keep(certificateContent(kept), signal))
      this.#digest = digest
    }
    this.#mark = mark
  }
}

import { isLongRunningKind } from '@quayside/contract/services/kinds.ts'
import type { Sql } from '../database/index.ts'
import { findScale, targetsOf } from '../scaling/index.ts'
import { findService, type ServiceRow } from '../services/index.ts'
import { internalHost } from '../variables/index.ts'
import type { Vault } from '../vault/index.ts'
import { programSettings, stopGraceSeconds } from './acting-settings.ts'
import { passwordsIn, wantedPasswordsIn } from './basic-auth.ts'
import { givenNow, openVariables, together, versionedOf } from './freeze.ts'
import type { ReleaseRow } from './release-store.ts'
import { startDeadlineSeconds, toWorkload } from './to-workload.ts'
import type { ReleaseContent } from './unchanged.ts'
import { isPublished, type Versioned } from './versioned.ts'

/** The dependencies for making a workload from a release. */
export interface ReleaseReader {
  readonly database: Sql
  readonly vault: Vault
  /** The address of the ports that the engine publishes. Undefined: the router opens them. */
  readonly publicPorts: { readonly address: string } | undefined
  /** GiB that a replica may write outside its volumes if its service does not say. */
  readonly layerGiB: number
}

/**
 * Returns a release as the engine takes it, with the current number of replicas, and the id of the
 * release that currently serves.
 */
export async function engineRelease(reader: ReleaseReader, organizationId: string, release: ReleaseRow) {
  const { database, vault } = reader
  const service = await findService(database, release.service_id)
  if (!service || !release.image) throw new Error(`release ${release.id} has no service or no image`)
  const opened = await openVariables(database, vault, organizationId, release)
  const workload = await workloadOf(reader, service, release, { ...opened, versioned: release })
  const { id, environment_id: environment, name: displayName, release_id: serving } = service
  return {
    release: { id: release.id, service: id, environment, displayName, workload },
    secrets: opened.secrets,
    serving,
  }
}

/** Returns the content of a release, for comparison. */
export async function contentOfRelease(
  reader: ReleaseReader,
  service: ServiceRow,
  release: ReleaseRow,
): Promise<ReleaseContent> {
  const opened = await openVariables(reader.database, reader.vault, service.organization_id, release)
  return contentOf(reader, service, release, { ...opened, versioned: release, passwordsIn: passwordsIn(release) })
}

/**
 * Returns the content that a deployment would have now, with the image, commit and port of a
 * release.
 */
export async function presentContent(
  reader: ReleaseReader,
  service: ServiceRow,
  release: ReleaseRow,
): Promise<ReleaseContent> {
  const { request_id: id, commit } = release
  const { plain, secret } = await givenNow(reader.database, reader.vault, service, { id, commit })
  const { advanced_settings } = service
  // A deployment would reserve a port.
  const public_port = release.public_port ?? 0
  const given = { ...together(plain, secret), versioned: versionedOf(service), passwordsIn: wantedPasswordsIn(service) }
  return contentOf(reader, service, { ...release, advanced_settings, public_port }, given)
}

async function contentOf(
  reader: ReleaseReader,
  service: ServiceRow,
  release: ReleaseRow,
  { passwordsIn, ...given }: Given & Pick<ReleaseContent, 'passwordsIn'>,
): Promise<ReleaseContent> {
  const same = { digest: release.image?.digest ?? '', passwordsIn }
  if (isLongRunningKind(service.kind)) return { workload: await workloadOf(reader, service, release, given), ...same }
  // The event decides which task runs, so all settings are compared. A chart is its settings.
  const { variables, files, versioned } = given
  const { settings } = versioned
  const workload = { image: '', variables, files, settings, advanced: release.advanced_settings }
  return { workload, ...same }
}

type Given = ReturnType<typeof together> & { readonly versioned: Versioned }

async function workloadOf(
  { database, publicPorts, layerGiB }: ReleaseReader,
  service: ServiceRow,
  release: Pick<ReleaseRow, 'image' | 'advanced_settings' | 'labels' | 'annotations' | 'public_port' | 'event_scaling'>,
  { versioned, variables, files }: Given,
) {
  const { image, advanced_settings, labels, annotations, public_port, event_scaling } = release
  return toWorkload(versioned, {
    service: service.id,
    image: image?.published ?? image?.reference ?? '',
    variables,
    files,
    aliases: [internalHost(service)],
    startDeadlineSeconds: startDeadlineSeconds(versioned),
    stopGraceSeconds: stopGraceSeconds(service.kind, advanced_settings),
    ...programSettings(service.kind, advanced_settings),
    labels,
    annotations,
    layerGiB,
    ...(isPublished(versioned) && public_port !== null && publicPorts
      ? { publicPort: { address: publicPorts.address, port: public_port } }
      : {}),
    scale: await findScale(database, service.id),
    targets: targetsOf(service.kind, advanced_settings),
    ...(event_scaling ? { events: event_scaling } : {}),
  })
}

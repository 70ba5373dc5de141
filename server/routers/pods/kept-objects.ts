import { type KeptSlot, keptFiles, keptPartCount, keptSlots } from '@quayside/contract/kept-parts.ts'
import type { KubeObject } from '../ingress/kube-objects.ts'
import { heads } from './object-heads.ts'
import type { RouterObjectSetting } from './router-objects.ts'

/** A document that the cluster keeps for routers that start while the platform is away. */
export interface KeptKind {
  /** The name of the Secret with the whole document, or with the head of its parts. */
  readonly secret: string
  /** The name of its volume in the pods, and the last part of its folder. */
  readonly volume: string
}

export const keptTable: KeptKind = { secret: 'router-table', volume: 'table' }

/** Certificates with their private keys, if the operator wants them to be kept. */
export const keptCertificates: KeptKind = { secret: 'router-certificates', volume: 'certificates' }

/** The folder of a document in the pods. */
export const keptFolder = ({ volume }: KeptKind): string => `/quayside/${volume}`

/** The version of the document in its Secret, in an annotation. */
export const keptVersionAnnotation = 'quayside.io/table-version'

/** The key of the content in the Secret of a part. */
const partKey = 'part.gz'

/** A copy of a part. */
export interface PartPlace {
  readonly index: number
  readonly slot: KeptSlot
}

export const partSecretName = ({ secret }: KeptKind, { index, slot }: PartPlace): string => `${secret}-${index}-${slot}`

/** Returns all places of parts. */
export const partPlaces: readonly PartPlace[] = Array.from({ length: keptPartCount }, (_, index) =>
  keptSlots.map((slot) => ({ index, slot })),
).flat()

type SecretObject = KubeObject & { readonly data: Readonly<Record<string, string>> }

/**
 * Returns the Secret of a document. It has the whole document, or the head of its parts, or only
 * the version: routers that start then wait for the platform.
 */
export function headSecret(
  setting: RouterObjectSetting,
  kind: KeptKind,
  kept: { readonly version: number; readonly whole?: Buffer; readonly head?: string },
): SecretObject {
  const { metadata, ...rest } = heads(setting, 'v1', 'Secret', kind.secret)
  const { whole, head } = kept
  return {
    ...rest,
    metadata: { ...metadata, annotations: { [keptVersionAnnotation]: String(kept.version) } },
    data: {
      ...(whole && { [keptFiles.whole]: whole.toString('base64') }),
      ...(head !== undefined && { [keptFiles.head]: Buffer.from(head).toString('base64') }),
    },
  }
}

/** Returns the Secret of a copy of a part. */
export const partSecret = (
  setting: RouterObjectSetting,
  kind: KeptKind,
  { content, ...place }: PartPlace & { readonly content: Buffer },
): SecretObject => ({
  ...heads(setting, 'v1', 'Secret', partSecretName(kind, place)),
  data: { [partKey]: content.toString('base64') },
})

/** Returns the volume of a document. Kubernetes replaces all of its files at once. */
export const keptVolume = (kind: KeptKind): object => ({
  name: kind.volume,
  projected: {
    defaultMode: 0o440,
    sources: [
      { secret: { name: kind.secret, optional: true } },
      ...partPlaces.map((place) => ({
        secret: {
          name: partSecretName(kind, place),
          optional: true,
          items: [{ key: partKey, path: keptFiles.part(place.index, place.slot) }],
        },
      })),
    ],
  },
})

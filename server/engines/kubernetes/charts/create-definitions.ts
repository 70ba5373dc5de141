import { everyOne } from '../../../lib/every-one.ts'
import { EngineError, type RenderedObject } from '../../engine.ts'
import { isKubeError, type KubeObject, kinds } from '../client/index.ts'
import type { KubeHost } from '../host.ts'

const pauseMs = 200
const limitMs = 60_000

/**
 * Creates the CustomResourceDefinitions among objects and waits until the cluster knows their
 * kinds. Helm does that for the first installation only. One that exists is left alone. Throws
 * EngineError('not-ready'), and KubeError.
 */
export async function createDefinitions(
  { kube, clock }: Pick<KubeHost, 'kube' | 'clock'>,
  objects: readonly RenderedObject[],
  outer: AbortSignal,
): Promise<void> {
  const defined = objects.filter(({ kind }) => kind === kinds.definition.kind)
  await everyOne(
    defined.map((object) =>
      kube.create(object, outer).catch((error: unknown) => {
        if (!isKubeError(error, 409)) throw error
      }),
    ),
  )
  const limit = AbortSignal.timeout(limitMs)
  for (const { metadata } of defined) {
    while (!isEstablished(await kube.get(kinds.definition, metadata, outer))) {
      if (limit.aborted) {
        throw new EngineError('not-ready', `the cluster does not accept the CustomResourceDefinition ${metadata.name}`)
      }
      await clock.sleep(pauseMs, outer)
    }
  }
}

function isEstablished(object: KubeObject | undefined): boolean {
  const conditions: unknown = Object(Object(object).status).conditions
  return (
    Array.isArray(conditions) &&
    conditions.some((one: unknown) => Object(one).type === 'Established' && Object(one).status === 'True')
  )
}

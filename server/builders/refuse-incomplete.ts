import type { EngineCapabilities, EnginePlace, NamedEngine } from '../engines/index.ts'
import type { Builders } from './builders.ts'

/**
 * Throws if an engine has no builder or router, or pulls images from elsewhere than its builder
 * puts them. The server checks this when it starts, not during a deployment.
 */
export function refuseIncomplete(
  { all }: { readonly all: readonly NamedEngine<{ readonly capabilities: Pick<EngineCapabilities, 'images'> }>[] },
  { builderOf }: Pick<Builders, 'builderOf'>,
  { routerOf }: { readonly routerOf: (place: EnginePlace) => unknown },
): void {
  for (const { name, engine } of all) {
    routerOf({ engine: name })
    const isPublishing = builderOf({ engine: name }).images !== undefined
    if (isPublishing === (engine.capabilities.images === 'registry')) continue
    throw new Error(`the engine "${name}" takes images from another place than its builder puts them`)
  }
}

import { type ComponentType, type ReactNode, useEffect, useState } from 'react'
import { loadCode } from '../api/new-version.ts'

/** A component whose code is loaded later. */
export interface Deferred<Props> {
  (props: Props): ReactNode
  /** Loads the code before it is drawn. Rejects if the server cannot be reached. */
  preload(): Promise<ComponentType<Props>>
}

/**
 * Returns a component whose code is loaded by `preload`, or when it is first drawn. Until then it
 * draws nothing. `lazy` of React would hold back a component by up to 300 ms after its code is
 * loaded.
 */
export function deferred<Props extends object>(load: () => Promise<ComponentType<Props>>): Deferred<Props> {
  let loaded: ComponentType<Props> | undefined
  let loading: Promise<ComponentType<Props>> | undefined
  const preload = (): Promise<ComponentType<Props>> => {
    loading ??= loadCode(load).then(
      (component) => {
        loaded = component
        return component
      },
      (error: unknown) => {
        loading = undefined
        throw error
      },
    )
    return loading
  }
  function Later(props: Props) {
    const [Component, setComponent] = useState(() => loaded)
    const [failure, setFailure] = useState<{ readonly error: unknown }>()
    useEffect(() => {
      if (!Component)
        preload().then(
          (component) => setComponent(() => component),
          (error: unknown) => setFailure({ error }),
        )
    }, [Component])
    if (failure) throw failure.error
    return Component && <Component {...props} />
  }
  return Object.assign(Later, { preload })
}

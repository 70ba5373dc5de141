const dialogs = ['deploy', 'copy', 'several', 'delete'] as const

/** The part of the address that every page of an environment has. */
export interface FrameSearch {
  /** The dialog that is open. */
  readonly act?: (typeof dialogs)[number]
}

/** The part of the address of an environment that says what it shows. */
export interface EnvironmentSearch extends FrameSearch {
  /** The table is the usual view. */
  readonly view?: 'map'
}

/** The address of the deployments of an environment. It names them by their executions. */
export interface DeploymentsSearch extends FrameSearch {
  /** The deployment that is shown. Without it, the last one. */
  readonly deployment?: string
  /** The two deployments that are compared. */
  readonly from?: string
  readonly to?: string
}

type Given = Readonly<Record<string, unknown>>

/** Pure: the dialog that an address opens. */
export function frameSearchOf({ act }: Given): FrameSearch {
  const dialog = dialogs.find((one) => one === act)
  return { ...(dialog && { act: dialog }) }
}

/** Pure: the parameters of an address that the page knows. */
export const environmentSearchOf = (given: Given): EnvironmentSearch => ({
  ...frameSearchOf(given),
  ...(given['view'] === 'map' && { view: 'map' }),
})

/** Pure: the parameters of an address that the page knows. */
export function deploymentsSearchOf(given: Given): DeploymentsSearch {
  const { deployment, from, to } = given
  return {
    ...frameSearchOf(given),
    ...(typeof deployment === 'string' && { deployment }),
    ...(typeof from === 'string' && typeof to === 'string' && { from, to }),
  }
}

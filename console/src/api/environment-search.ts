const dialogs = ['deploy', 'copy', 'delete'] as const

/** The part of the address of an environment that says what it shows. */
export interface EnvironmentSearch {
  /** The table is the usual view. */
  readonly view?: 'map'
  /** The dialog that is open. */
  readonly act?: (typeof dialogs)[number]
}

/** Pure: the parameters of an address that the page knows. */
export function environmentSearchOf({ view, act }: Readonly<Record<string, unknown>>): EnvironmentSearch {
  const dialog = dialogs.find((one) => one === act)
  return { ...(view === 'map' && { view }), ...(dialog && { act: dialog }) }
}

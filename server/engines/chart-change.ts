/** The effect of an installation on one object of a chart. */
export interface ChartChange {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  /** Absent in the namespace of the environment. */
  readonly namespace?: string
  readonly change: 'CREATE' | 'CHANGE' | 'DELETE'
  /** The members that differ: of a `CREATE` all, of a `DELETE` none. */
  readonly fields: readonly ChangedField[]
  /** How many more members differ. */
  readonly omitted: number
}

export interface ChangedField {
  /** `spec.template.spec.containers[web].image` */
  readonly path: string
  /** As JSON. Undefined: it is absent, or hidden. */
  readonly before: string | undefined
  readonly after: string | undefined
  /** Whether it is a value of a Secret. */
  readonly isHidden: boolean
}

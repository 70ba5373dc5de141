/** The effect of an installation on one object of a chart. */
export interface ChartChange {
  readonly kind: string
  readonly name: string
  /** Absent in the namespace of the environment. */
  readonly namespace?: string
  readonly change: 'CREATE' | 'CHANGE' | 'DELETE'
  /** The members that differ, of a `CHANGE`. */
  readonly fields: readonly ChangedField[]
}

export interface ChangedField {
  /** `spec.template.spec.containers[web].image` */
  readonly path: string
  /** As JSON. Undefined: it is absent, or a value of a Secret. */
  readonly before: string | undefined
  readonly after: string | undefined
}

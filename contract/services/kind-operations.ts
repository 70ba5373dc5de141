import type { Operation } from '../operation.ts'
import { type KindName, kindNames, serviceKinds } from './kinds.ts'
import { type Cell, columns, type Matrix, type Row } from './matrix.ts'
import { type Section, type Templates, templatesOf } from './templates.ts'

type Kinds = typeof serviceKinds
/** Turns `list{Kind}Links` and the kind `application` into `listApplicationLinks`. */
type Filled<R, N extends KindName> = R extends `${infer A}{Kind}${infer B}`
  ? `${A}${Kinds[N]['noun']}${B}`
  : R extends `${infer A}{Short}${infer B}`
    ? `${A}${Kinds[N]['short']}${B}`
    : R extends `${infer A}{Listed}${infer B}`
      ? `${A}${Kinds[N]['listed']}${B}`
      : never

/** The operations of one kind whose cells are true. */
type OfKind<S extends Section, M extends Matrix, N extends KindName> = {
  [R in keyof M[S] & keyof Templates<N>[S] as M[S][R] extends { readonly [C in (typeof columns)[N]]: true }
    ? Filled<R, N>
    : never]: Templates<N>[S][R]
}
type Keys<U> = U extends unknown ? keyof U : never
type Merged<U> = { [P in Keys<U>]: U extends { readonly [Q in P]: infer O } ? O : never }

/** The operations of a section of a matrix. */
export type OperationsIn<S extends Section, M extends Matrix> = Merged<{ [N in KindName]: OfKind<S, M, N> }[KindName]>

/** Returns the name of an operation of a kind. */
export function filled(template: string, name: KindName): string {
  const { noun, short, listed } = serviceKinds[name]
  return template.replace('{Kind}', noun).replace('{Short}', short).replace('{Listed}', listed)
}

/** One cell of a matrix with the operation that it switches. */
export interface Place {
  readonly template: string
  readonly kind: KindName
  readonly cell: Cell
  readonly operation: Operation
}

/** Returns every cell of a section, one kind after the other. */
export function cellsOf(section: Section, cells: Matrix, kinds = kindNames): Place[] {
  const rows = Object.entries<Row>(cells[section])
  return kinds.flatMap((kind) => {
    const templates = new Map(Object.entries<Operation>(templatesOf(kind)[section]))
    return rows.map(([template, row]) => {
      const operation = templates.get(template)
      if (!operation) throw new Error(`The matrix has the row ${template}, which no template describes.`)
      return { template, kind, cell: row[columns[kind]], operation }
    })
  })
}

/**
 * Returns the operations of a section of a matrix, in the order of `kinds`. The cast is the one
 * place where names computed at run time meet their types.
 */
export function operationsIn<const S extends Section, const M extends Matrix>(section: S, cells: M, kinds = kindNames) {
  const supported = cellsOf(section, cells, kinds).filter(({ cell }) => cell === true)
  const named = supported.map(({ template, kind, operation }) => [filled(template, kind), operation] as const)
  return Object.fromEntries(named) as OperationsIn<S, M>
}

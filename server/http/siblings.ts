import { contract, type Operation } from '@quayside/contract'

/** Of the same path, and of the same kind of object. */
const siblingsOf = ({ path, target, kind }: Operation): Operation[] =>
  Object.values<Operation>(contract).filter(
    (other) => other.path === path && other.target === target && other.kind === kind,
  )

/**
 * Whether what it answers can be changed or removed under the same address: then it carries an
 * ETag.
 */
export const isVersioned = (operation: Operation): boolean =>
  operation.method === 'GET' &&
  siblingsOf(operation).some(({ method }) => method === 'PUT' || method === 'DELETE') &&
  operation.refuses === undefined

/** The operation that answers what a PUT or DELETE is about to change. */
export const readerOf = (operation: Operation): Operation | undefined =>
  operation.method === 'PUT' || operation.method === 'DELETE' ? siblingsOf(operation).find(isVersioned) : undefined

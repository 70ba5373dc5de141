import { contract, type Operation } from '@quayside/contract'

/** Returns the operations with the same path and the same kind of object. */
const siblingsOf = ({ path, target, kind }: Operation): Operation[] =>
  Object.values<Operation>(contract).filter(
    (other) => other.path === path && other.target === target && other.kind === kind,
  )

/**
 * Whether an operation's reply carries an ETag: its object can be changed or removed under the same
 * address.
 */
export const isVersioned = (operation: Operation): boolean =>
  operation.method === 'GET' &&
  siblingsOf(operation).some(({ method }) => method === 'PUT' || method === 'DELETE') &&
  operation.refuses === undefined

/** Returns the operation that reads the object that a PUT or DELETE changes. */
export const readerOf = (operation: Operation): Operation | undefined =>
  operation.method === 'PUT' || operation.method === 'DELETE' ? siblingsOf(operation).find(isVersioned) : undefined

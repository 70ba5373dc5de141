import type { KubeObject } from './objects.ts'

/** Names of all kinds that the platform reads. */
const name = /^[A-Za-z0-9][A-Za-z0-9.:_-]{0,252}$/

/**
 * Whether an answer of an API server has what every object has: a name, and a namespace if it says
 * one. Kinds have more, which their readers check.
 */
export function isObject(value: unknown): value is KubeObject {
  const { metadata } = Object(value)
  const { name: own, namespace } = Object(metadata)
  return isName(own) && (namespace === undefined || isName(namespace))
}

const isName = (text: unknown): boolean => typeof text === 'string' && name.test(text)

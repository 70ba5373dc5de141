import { AppError } from '../lib/error.ts'
import { readAssignments, readVariableDefinitions } from './terraform-files.ts'

/**
 * Files by their paths. Both functions run in a worker, so that a large repository delays no other
 * request. There, errors are results.
 */
type Files = readonly { readonly path: string; readonly text: string }[]

export const definitionsIn = (files: Files) =>
  orProblem(() => files.flatMap(({ path, text }) => readVariableDefinitions(path, text)))

export const assignmentsIn = (files: Files) =>
  orProblem(() => files.map(({ path, text }) => ({ source: path, variables: readAssignments(path, text) })))

function orProblem<T>(read: () => T): { readonly value: T } | { readonly problem: string } {
  try {
    return { value: read() }
  } catch (error) {
    if (error instanceof AppError) return { problem: error.message }
    throw error
  }
}

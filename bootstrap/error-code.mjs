/**
 * Returns the code of an error of the system, such as ENOENT; undefined if it has none.
 * @param {unknown} error
 */
export const codeOf = (error) => (error instanceof Error && 'code' in error ? `${error.code}` : undefined)

/**
 * Returns the message of whatever was thrown.
 * @param {unknown} error
 */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error))

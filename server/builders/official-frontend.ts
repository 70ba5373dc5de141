const official = /^(?:docker\.io\/)?docker\/dockerfile(?::[\w.-]+)?(?:@sha256:[0-9a-f]{64})?$/

/**
 * Returns the frontend that a Dockerfile requests; undefined if it names none. Callers check the
 * result, and the line is never sent to the engine.
 */
export function requestedFrontend(text: string): string | undefined {
  const plain = text.replace(/^\uFEFF/, '')
  for (let from = 0; from < plain.length; ) {
    const end = plain.indexOf('\n', from)
    const line = plain.slice(from, end === -1 ? plain.length : end).trim()
    if (line !== '' && !line.startsWith('#') && !line.startsWith('//')) break
    const value = syntaxOf(line)
    if (value !== undefined) return value
    if (end === -1) break
    from = end + 1
  }
  // Newer builders also read the directive from a file that is JSON.
  return plain.trimStart().startsWith('{') ? 'JSON' : undefined
}

function syntaxOf(line: string): string | undefined {
  const equals = line.indexOf('=')
  const name = line.slice(line.startsWith('#') ? 1 : 2, Math.max(equals, 0)).trim()
  return name.toLowerCase() === 'syntax' ? line.slice(equals + 1).trim() : undefined
}

/** Whether this is Docker's own frontend. The built-in one replaces it, so it is never pulled. */
export const isOfficialFrontend = (frontend: string): boolean => official.test(frontend)

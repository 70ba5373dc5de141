/** Strings, brackets, and everything in between. */
const token = /"(?:[^"\\]|\\.)*"|[{}[\]]|[^"{}[\]]+/gs

/**
 * Pure: returns a state file with another serial and every other character unchanged. Parsing and
 * writing it would round numbers of more than 53 bits. A state that OpenTofu has encrypted repeats
 * its serial inside, so it is returned as it is.
 */
export function withSerial(text: string, serial: number): string {
  let depth = 0
  let isSerial = false
  let isEncrypted = false
  const parts: string[] = []
  for (const [part] of text.matchAll(token)) {
    const isNumber = isSerial && /^\s*:\s*\d/.test(part)
    parts.push(isNumber ? part.replace(/\d+/, String(serial)) : part)
    isSerial = depth === 1 && part === '"serial"'
    if (depth === 1 && part === '"encrypted_data"') isEncrypted = true
    if (part === '{' || part === '[') depth++
    if (part === '}' || part === ']') depth--
  }
  return isEncrypted ? text : parts.join('')
}

/**
 * Removes full stops and white space from the end of a foreign message. Reads each character once,
 * unlike a regular expression.
 */
export function withoutFullStop(sentence: string): string {
  let end = sentence.length
  while (end > 0 && (sentence[end - 1] === '.' || sentence[end - 1]?.trim() === '')) end--
  return sentence.slice(0, end)
}

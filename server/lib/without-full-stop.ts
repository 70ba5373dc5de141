/** A sentence of somebody else without the full stops and white space at its end. Reads each character once, unlike a pattern. */
export function withoutFullStop(sentence: string): string {
  let end = sentence.length
  while (end > 0 && (sentence[end - 1] === '.' || sentence[end - 1]?.trim() === '')) end--
  return sentence.slice(0, end)
}

/** Without these characters at its end. In linear time: `/x+$/` begins again at each x. */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text[end - 1] ?? '')) end--
  return text.slice(0, end)
}

/** Without these characters at its beginning and end. */
export function withoutEnds(text: string, characters: string): string {
  let begin = 0
  while (begin < text.length && characters.includes(text[begin] ?? '')) begin++
  return withoutEnd(text.slice(begin), characters)
}

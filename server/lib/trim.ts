/** Removes these characters from the end in linear time: `/x+$/` starts again at each x. */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text[end - 1] ?? '')) end--
  return text.slice(0, end)
}

/** Removes these characters from the beginning and the end. */
export function withoutEnds(text: string, characters: string): string {
  let begin = 0
  while (begin < text.length && characters.includes(text[begin] ?? '')) begin++
  return withoutEnd(text.slice(begin), characters)
}

/** Pure: moves an id right before or after another. Moving it next to itself changes nothing. */
export function moved(
  order: readonly string[],
  id: string,
  place: { readonly before: string } | { readonly after: string },
): readonly string[] {
  const other = 'before' in place ? place.before : place.after
  if (other === id) return order
  const others = order.filter((one) => one !== id)
  const at = others.indexOf(other) + ('before' in place ? 0 : 1)
  return [...others.slice(0, at), id, ...others.slice(at)]
}

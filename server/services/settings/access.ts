/**
 * Stored facts about a repository: the last contact with one git token or none, and whether the
 * built-in host has it.
 */
export interface RepositoryFact {
  readonly url: string
  readonly git_token_id: string | null
  /** Null before the first contact. */
  readonly has_access: boolean | null
  /** Whether the organization pushed a repository of that name to the built-in host. */
  readonly hosted: boolean
}

/**
 * Returns whether the repository is readable, by the result of the last contact. Before any
 * contact, only a repository of the built-in host is known to be readable. `isHome` returns whether
 * an address is on that host.
 */
export function hasAccess(
  { url, git_token_id }: { readonly url: string; readonly git_token_id: string | null },
  facts: readonly RepositoryFact[],
  isHome: (url: string) => boolean,
): boolean {
  const own = facts.filter((fact) => fact.url === url)
  const contact = own.find((fact) => fact.has_access !== null && fact.git_token_id === git_token_id)
  return contact?.has_access ?? (own.some(({ hosted }) => hosted) && isHome(url))
}

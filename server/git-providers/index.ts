/** Asks git providers (GitHub, GitLab, Bitbucket) for what a token shows: repositories and branches. Reads no repository. */
export { createGitProviders, type ListedRepository, type ProviderToken } from './git-providers.ts'

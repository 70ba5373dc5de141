/**
 * Repositories of users: lists repositories and branches of providers, and reads Dockerfiles,
 * charts and Terraform files for forms.
 */
export { createGitProviders } from './git-providers.ts'
export { inspect } from './inspections.ts'

/** Repositories of users: asks providers for repositories and branches, and reads Dockerfiles, charts and Terraform files for forms. */
export { createGitProviders } from './git-providers.ts'
export { inspect } from './inspections.ts'

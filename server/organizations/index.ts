/**
 * Ownership: organizations, projects, environments with their stages, git tokens. Nothing here runs
 * anything.
 */

export {
  deleteEnvironmentRow,
  type EnvironmentMode,
  type EnvironmentRow,
  engineOfEnvironment,
  environmentTarget,
  findEnvironment,
  insertEnvironment,
  insertStages,
  listEnvironments,
  markEnvironmentDeleting,
} from './environment-store.ts'
export { createEnvironments, type EnvironmentCreate, environmentRecord } from './environments.ts'
export type { GitProvider } from './git-token-store.ts'
export { createGitTokens, type GitTokenRequest } from './git-tokens.ts'
export { nameTaken } from './name-taken.ts'
export {
  insertOrganization,
  type OrganizationChange,
  type OrganizationRow,
  organizationTarget,
} from './organization-store.ts'
export { createOrganizations, organizationRecord } from './organizations.ts'
export { insertProject, type ProjectRow, projectTarget } from './project-store.ts'
export { createProjects, type ProjectRequest, projectRecord } from './projects.ts'

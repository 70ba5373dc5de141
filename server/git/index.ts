/** Git: reads repositories of git servers, and hosts repositories of its own. */
export { createGit, type GitDriver, type GitOptions } from './create-git.ts'
export { type Checkout, type CommitInfo, type Git, GitError, type Repository, type TreeView } from './git.ts'
export { type GitPath, parseGitPath, type ServicePath } from './git-path.ts'
export { createGitHost, type GitHost } from './host.ts'
export { defaultGitLimits, type GitLimits } from './limits.ts'
export type { BuiltInHost, OwnedRepository } from './locate.ts'
export { isBranchName, isCommitId, isRepositoryName, treePath } from './names.ts'
export type { GitHostCall } from './serve-call.ts'

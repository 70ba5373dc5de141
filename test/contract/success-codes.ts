/** What each operation answers when all is well, as the public clients of this API expect it. */
const byCode = {
  200: [
    ...['listOrganization', 'getOrganization', 'editOrganization'],
    ...['listOrganizationApiTokens', 'listOrganizationGitTokens', 'getOrganizationGitToken', 'editGitToken'],
    ...['listDirectoriesFromGitRepository', 'listOrganizationWebHooks', 'getOrganizationWebhook'],
    ...['editOrganizationWebhook', 'listWebhookEvent', 'listOrganizationCluster', 'getOrganizationClusterStatus'],
    ...['getClusterStatus', 'listProject', 'createProject', 'getProject', 'editProject'],
    ...['listProjectEnvironmentVariable', 'editProjectEnvironmentVariable', 'listProjectSecrets', 'editProjectSecret'],
    ...['listEnvironment', 'getEnvironment', 'editEnvironment', 'getEnvironmentStatus', 'getEnvironmentStatuses'],
    ...['listEnvironmentLogs', 'listDeploymentRequestByEnvironmentId', 'listEnvironmentEnvironmentVariable'],
    ...['editEnvironmentEnvironmentVariable', 'listEnvironmentSecrets', 'editEnvironmentSecret'],
    ...['listApplication', 'getApplication', 'editApplication', 'getApplicationStatus'],
    ...['listApplicationDeploymentHistoryV2', 'listApplicationLog', 'listApplicationLinks'],
    ...['listApplicationEnvironmentVariable', 'editApplicationEnvironmentVariable'],
    ...['listApplicationSecrets', 'editApplicationSecret'],
  ],
  201: [
    ...['createOrganizationApiToken', 'createGitToken', 'createOrganizationWebhook'],
    ...['createProjectEnvironmentVariable', 'createProjectSecret', 'createEnvironment'],
    ...['createEnvironmentEnvironmentVariable', 'createEnvironmentSecret', 'createApplication'],
    ...['createApplicationEnvironmentVariable', 'createApplicationSecret'],
  ],
  202: [
    ...['deployEnvironment', 'redeployEnvironment', 'stopEnvironment', 'cancelEnvironmentDeployment'],
    ...['deployApplication', 'redeployApplication', 'stopApplication', 'rebootApplication', 'uninstallApplication'],
  ],
  204: [
    ...['deleteOrganizationApiToken', 'deleteGitToken', 'deleteOrganizationWebhook', 'deleteProject'],
    ...['deleteProjectEnvironmentVariable', 'deleteProjectSecret', 'deleteEnvironment'],
    ...['deleteEnvironmentEnvironmentVariable', 'deleteEnvironmentSecret', 'deleteApplication'],
    ...['deleteApplicationEnvironmentVariable', 'deleteApplicationSecret'],
  ],
}

export const successCodes: ReadonlyMap<string, number> = new Map(
  Object.entries(byCode).flatMap(([code, names]) => names.map((name) => [name, Number(code)] as const)),
)

/** Operations that the console does not use, and why a person misses nothing. */
export interface Unused {
  readonly because: string
  readonly operations: readonly string[]
}

const kinds = ['Application', 'Container', 'Database', 'Job', 'Helm', 'Terraform']
const without = (...left: readonly string[]): readonly string[] => kinds.filter((kind) => !left.includes(kind))
const clouds = ['AWS', 'Scaleway', 'Gcp', 'Azure']

/** The names of operations: `{}` in each name stands for one of the words. */
const each = (words: readonly string[], ...names: readonly string[]): readonly string[] =>
  words.flatMap((word) => names.map((name) => name.replace('{}', word)))

const variableScopes = ['Project', 'Environment', 'Application', 'Container', 'Job']

/** Operations that answer with the same facts, or make the same change, as one that is used. */
const sameAsAnother: readonly Unused[] = [
  {
    because: 'listVariables, createVariable, editVariable, deleteVariable and their like do it for every scope',
    operations: [
      ...each(
        variableScopes,
        'list{}EnvironmentVariable',
        'create{}EnvironmentVariable',
        'edit{}EnvironmentVariable',
        'delete{}EnvironmentVariable',
        'create{}EnvironmentVariableAlias',
        'create{}EnvironmentVariableOverride',
        'list{}Secrets',
        'create{}Secret',
        'edit{}Secret',
        'delete{}Secret',
        'create{}SecretAlias',
        'create{}SecretOverride',
      ),
    ],
  },
  {
    because: 'a pasted .env is sent line by line by createVariable and editVariable, after a preview',
    operations: ['importEnvironmentVariable', 'importContainerEnvironmentVariable', 'importJobEnvironmentVariable'],
  },
  {
    because: 'getEnvironmentStatusesWithStages has the states of all services of an environment',
    operations: [
      ...each(without('Terraform'), 'get{}Status', 'getEnvironment{}Status'),
      'getEnvironmentStatus',
      'getEnvironmentStatuses',
      'getServiceDeploymentStage',
      'getContainerRegistryContainerStatus',
    ],
  },
  {
    because: 'listServicesByEnvironmentId has the settings of all services of an environment',
    operations: [
      ...each(without('Job', 'Helm', 'Terraform'), 'list{}'),
      ...each(['Job', 'Helm', 'Terraform'], 'list{}s'),
      ...each(kinds, 'get{}'),
    ],
  },
  {
    because: 'the second version of the history has more',
    operations: [...each(without('Terraform'), 'list{}DeploymentHistory'), 'listEnvironmentDeploymentHistory'],
  },
  {
    because: 'the streams of lines show them as they are written',
    operations: ['listApplicationLog', 'listContainerLog', 'listEnvironmentLog', 'listEnvironmentLogs'],
  },
  {
    because: 'listEnvironmentServicesLinks has the addresses of all services of an environment',
    operations: ['listApplicationLinks', 'listContainerLinks', 'listHelmLinks'],
  },
  {
    because: 'the list that the page shows has all fields of the record',
    operations: [
      'getHelmRepository',
      'getContainerRegistry',
      'getOrganization',
      'getOrganizationCustomRole',
      'getOrganizationGitToken',
      'getOrganizationWebhook',
      'getOrganizationAnnotationsGroup',
      'getOrganizationLabelssGroup',
      'getClusterStatus',
      'getProjectDeploymentRule',
      'getDeploymentStage',
    ],
  },
  {
    because: 'the deployment of a cluster also upgrades it',
    operations: ['upgradeCluster'],
  },
  {
    because: 'the status of each cluster has its lock and says whether it is ready',
    operations: ['list-cluster-lock', 'getClusterReadinessStatus'],
  },
  {
    because: 'the check of the domain says more, and the list has the record',
    operations: ['getCustomDomainStatus', 'getContainerCustomDomainStatus', 'getHelmCustomDomain'],
  },
  {
    because: 'a person removes the restriction and adds another one, which takes the same two presses',
    operations: each(without('Container', 'Database'), 'edit{}DeploymentRestriction'),
  },
  {
    because: 'sticky sessions are the advanced setting network.ingress.enable_sticky_session',
    operations: each(['Application', 'Container'], 'get{}Network', 'edit{}Network'),
  },
  {
    because: 'the versions of a type of database come from listEnvironmentDatabaseConfig',
    operations: ['listDatabaseVersion'],
  },
  {
    because: 'the page of an organization reads the environments of each project and their overview',
    operations: [
      'listEnvironment',
      'getProjectEnvironmentsStatus',
      'getProjectEnvironmentServiceNumber',
      'getOrganizationProjectStats',
      'listEnvironmentsByOrganizationId',
    ],
  },
  {
    because: 'the page that the issuer serves for an invitation reads and accepts it, before anybody is signed in',
    operations: ['getMemberInvitation', 'postAcceptInviteMember'],
  },
  {
    because: 'the events of the audit log are filtered by words that the page knows',
    operations: ['getOrganizationEventTargets'],
  },
  {
    because: 'the streams of states and the history report the end of a request',
    operations: ['getDeploymentStatusByDeploymentRequestId'],
  },
  {
    because: 'the queue of an environment has the requests of its services',
    operations: ['listDeploymentRequestByServiceId'],
  },
  {
    because: 'the page of each job deletes its failed runs',
    operations: ['cleanFailedJobs'],
  },
  {
    because: 'the list of commits of a service has their authors',
    operations: ['listApplicationContributor'],
  },
]

/** Operations that have no use for a person in front of this platform. */
const withoutUse: readonly Unused[] = [
  {
    because: 'the routing table of a cluster is only stored, and nothing on this platform reads it',
    operations: ['getRoutingTable', 'editRoutingTable'],
  },
  {
    because: 'the answer is always empty, zero or 404 on this platform',
    operations: [
      'listOrganizationCreditCards',
      'listMcpServers',
      'getAlertReceivers',
      'getAlertRules',
      'getOrganizationCurrentCost',
      'getOrganizationOnboarding',
      'getBlueprintCatalog',
      'listSecretManagerAccessExternalSecrets',
      'getArgoCdAssociatedServices',
      'listOrganizationPolicyApiTokens',
      'getUserSignUp',
      'getGitProviderAccount',
      'getOrganizationGitProviderAccount',
      ...each(['Github', 'Gitlab', 'Bitbucket'], 'get{}Repositories', 'get{}RepositoryBranches'),
    ],
  },
  {
    because: 'the platform makes nothing on a cloud, so nobody chooses a region or a machine of one',
    operations: [
      'listCloudProvider',
      ...each(clouds, 'list{}Regions', 'list{}Features'),
      'listAWSInstanceType',
      'listScalewayInstanceType',
      'listAWSEKSInstanceType',
      'listAzureAKSInstanceType',
      'listScalewayKapsuleInstanceType',
      'listGcpGkeInstanceType',
      'listAWSManagedDatabaseType',
      'listSCWManagedDatabaseType',
      'listAWSManagedDatabaseInstanceType',
    ],
  },
  {
    because: 'credentials of clouds are records for Terraform, and nothing on this platform reads them',
    operations: [
      ...each([...clouds, 'OnPremise'], 'list{}Credentials', 'create{}Credentials', 'get{}Credentials'),
      ...each([...clouds, 'OnPremise'], 'edit{}Credentials', 'delete{}Credentials'),
      'listOrganizationCredentials',
      'getOrganizationCloudProviderInfo',
      'specifyClusterCloudProviderInfo',
    ],
  },
  {
    because: 'a registry or a pipeline calls it when it has a new tag',
    operations: ['autoDeployContainerEnvironments', 'autoDeployJobEnvironments'],
  },
  {
    because: 'Prometheus reads it, and the pages about traffic show the same numbers',
    operations: ['getOrganizationMetrics'],
  },
  {
    because: 'values for a program that installs agents on a cluster, which this platform does not need',
    operations: ['getInstallationHelmValues'],
  },
]

export const unused: readonly Unused[] = [...sameAsAnother, ...withoutUse]

import type { KindName } from './kinds.ts'
import type { Section, Templates } from './templates.ts'

/** A cell: true if the kind has the operation, otherwise the reason why not. */
export type Cell = true | string
/** The cells of one operation, in the order of `columns`. */
export type Row = readonly [Cell, Cell, Cell, Cell, Cell, Cell]

/**
 * The columns: each kind with its place in a row. Cron and lifecycle jobs are both of the kind
 * `job`.
 */
export const columns = {
  application: 0,
  container: 1,
  database: 2,
  job: 3,
  helm: 4,
  terraform: 5,
} as const satisfies Record<KindName, number>

const yes = true
const image = 'It is not built from a repository.'
const charts = 'A chart has two repositories: see the commits of charts.'
const noAuthors = 'The public API lists the authors of applications only.'
const newer = 'The public API has only the newer form, `listTerraformDeploymentHistoryV2`.'
const overview = 'Its status is in the statuses of the environment.'
const idle = 'Nothing of it runs between its deployments.'
const eachRun = 'Each run starts a new program.'
const noRestart = 'The public API does not restart charts. Redeploy it.'
const stream = 'Its lines are read from the stream `/service/logs`.'
const noUrls = 'It has no URL. Its record has its host and port.'
const noPorts = 'It has no public ports.'
const notDb = 'It is not a database.'
const notChart = 'It is not a Helm chart.'
const notStack = 'It is not a Terraform stack.'
const notJob = 'It is not a job.'
const noImage = 'It runs no image of a registry.'
const noVolumes = 'It has no volumes of the platform.'
const anyScope = 'Its variables are read and written with the operations on `/variable`.'
const none = 'It has no advanced settings.'
const longName = 'It is called `getHelmCustomDomain`.'
const status = 'It is called the status.'
const setting = 'The advanced setting `network.ingress.enable_sticky_session` has the value.'

/**
 * Which kind of service has which operation: true, or the reason why not. A cell that becomes true
 * adds the operation to the routes, the OpenAPI document, the client and the tests of the contract.
 * `templates.ts` describes the operations.
 */
// biome-ignore format: the columns are aligned
export const matrix = {
  commits: {
    //                                          application container   database    job         helm        terraform
    'list{Kind}Commit':                        [yes,        image,      image,      yes,        charts,     yes],
  },
  chartCommits: {
    'list{Kind}Commit':                        [notChart,   notChart,   notChart,   notChart,   yes,        notChart],
  },
  contributors: {
    'list{Kind}Contributor':                   [yes,        noAuthors,  noAuthors,  noAuthors,  noAuthors,  noAuthors],
  },
  history: {
    'list{Kind}DeploymentHistory':             [yes,        yes,        yes,        yes,        yes,        newer],
  },
  services: {
    //                                          application container   database    job         helm        terraform
    'list{Listed}':                            [yes,        yes,        yes,        yes,        yes,        yes],
    'create{Kind}':                            [yes,        yes,        yes,        yes,        yes,        yes],
    'get{Kind}':                               [yes,        yes,        yes,        yes,        yes,        yes],
    'edit{Kind}':                              [yes,        yes,        yes,        yes,        yes,        yes],
    'delete{Kind}':                            [yes,        yes,        yes,        yes,        yes,        yes],
    'clone{Kind}':                             [yes,        yes,        yes,        yes,        yes,        yes],
    'get{Kind}Status':                         [yes,        yes,        yes,        yes,        yes,        overview],
    'getEnvironment{Kind}Status':              [yes,        yes,        yes,        yes,        yes,        overview],
    'deploy{Kind}':                            [yes,        yes,        yes,        yes,        yes,        yes],
    'redeploy{Kind}':                          [yes,        yes,        yes,        yes,        yes,        yes],
    'uninstall{Kind}':                         [yes,        yes,        yes,        yes,        yes,        yes],
    'list{Kind}DeploymentHistoryV2':           [yes,        yes,        yes,        yes,        yes,        yes],
    'rollback{Kind}':                          [yes,        yes,        yes,        yes,        yes,        yes],
    'stop{Kind}':                              [yes,        yes,        yes,        yes,        yes,        idle],
    'reboot{Kind}':                            [yes,        yes,        yes,        eachRun,    noRestart,  idle],
    'list{Kind}Log':                           [yes,        yes,        stream,     stream,     stream,     stream],
    'list{Kind}Links':                         [yes,        yes,        noUrls,     noPorts,    yes,        noPorts],
  },
  databases: {
    'list{Kind}Version':                       [notDb,      notDb,      yes,        notDb,      notDb,      notDb],
    'get{Kind}MasterCredentials':              [notDb,      notDb,      yes,        notDb,      notDb,      notDb],
  },
  charts: {
    'get{Kind}KubernetesServices':             [notChart,   notChart,   notChart,   notChart,   yes,        notChart],
    'list{Kind}Diffs':                         [notChart,   notChart,   notChart,   notChart,   yes,        notChart],
    'get{Kind}Diff':                           [notChart,   notChart,   notChart,   notChart,   yes,        notChart],
  },
  stacks: {
    'get{Kind}Resources':                      [notStack,   notStack,   notStack,   notStack,   notStack,   yes],
    'list{Kind}Runs':                          [notStack,   notStack,   notStack,   notStack,   notStack,   yes],
    'get{Kind}Plan':                           [notStack,   notStack,   notStack,   notStack,   notStack,   yes],
    'list{Kind}States':                        [notStack,   notStack,   notStack,   notStack,   notStack,   yes],
    'restore{Kind}State':                      [notStack,   notStack,   notStack,   notStack,   notStack,   yes],
    'check{Kind}Drift':                        [notStack,   notStack,   notStack,   notStack,   notStack,   yes],
    'get{Kind}DriftPolicy':                    [notStack,   notStack,   notStack,   notStack,   notStack,   yes],
    'edit{Kind}DriftPolicy':                   [notStack,   notStack,   notStack,   notStack,   notStack,   yes],
  },
  jobs: {
    //                                          application container   database    job         helm        terraform
    'list{Kind}Runs':                          [notJob,     notJob,     notJob,     yes,        notJob,     notJob],
    'get{Kind}Timetable':                      [notJob,     notJob,     notJob,     yes,        notJob,     notJob],
    'cancel{Kind}Run':                         [notJob,     notJob,     notJob,     yes,        notJob,     notJob],
    'cleanFailed{Kind}':                       [notJob,     notJob,     notJob,     yes,        notJob,     notJob],
    'cleanFailed{Kind}s':                      [notJob,     notJob,     notJob,     yes,        notJob,     notJob],
  },
  images: {
    'autoDeploy{Kind}Environments':            [noImage,    yes,        noImage,    yes,        noImage,    noImage],
  },
  backups: {
    //                                          application container   database    job         helm        terraform
    'list{Kind}Backup':                        [yes,        yes,        yes,        noVolumes,  noVolumes,  noVolumes],
    'addBackup{Kind}':                         [yes,        yes,        yes,        noVolumes,  noVolumes,  noVolumes],
    'remove{Kind}Backup':                      [yes,        yes,        yes,        noVolumes,  noVolumes,  noVolumes],
    'restore{Kind}Backup':                     [yes,        yes,        yes,        noVolumes,  noVolumes,  noVolumes],
    'prove{Kind}Backup':                       [yes,        yes,        yes,        noVolumes,  noVolumes,  noVolumes],
    'get{Kind}BackupPolicy':                   [yes,        yes,        yes,        noVolumes,  noVolumes,  noVolumes],
    'edit{Kind}BackupPolicy':                  [yes,        yes,        yes,        noVolumes,  noVolumes,  noVolumes],
  },
  variables: {
    //                                          application container   database    job         helm        terraform
    'list{Kind}EnvironmentVariable':           [yes,        yes,        anyScope,   yes,        anyScope,   anyScope],
    'list{Kind}Secrets':                       [yes,        yes,        anyScope,   yes,        anyScope,   anyScope],
    'create{Kind}EnvironmentVariable':         [yes,        yes,        anyScope,   yes,        anyScope,   anyScope],
    'edit{Kind}EnvironmentVariable':           [yes,        yes,        anyScope,   yes,        anyScope,   anyScope],
    'delete{Kind}EnvironmentVariable':         [yes,        yes,        anyScope,   yes,        anyScope,   anyScope],
    'create{Kind}EnvironmentVariableAlias':    [yes,        yes,        anyScope,   yes,        anyScope,   anyScope],
    'create{Kind}EnvironmentVariableOverride': [yes,        yes,        anyScope,   yes,        anyScope,   anyScope],
    'create{Kind}Secret':                      [yes,        yes,        anyScope,   yes,        anyScope,   anyScope],
    'edit{Kind}Secret':                        [yes,        yes,        anyScope,   yes,        anyScope,   anyScope],
    'delete{Kind}Secret':                      [yes,        yes,        anyScope,   yes,        anyScope,   anyScope],
    'create{Kind}SecretAlias':                 [yes,        yes,        anyScope,   yes,        anyScope,   anyScope],
    'create{Kind}SecretOverride':              [yes,        yes,        anyScope,   yes,        anyScope,   anyScope],
  },
  imports: {
    'import{Short}EnvironmentVariable':        [yes,        yes,        anyScope,   yes,        anyScope,   anyScope],
  },
  advancedSettings: {
    //                                          application container   database    job         helm        terraform
    'getDefault{Kind}AdvancedSettings':        [yes,        yes,        none,       yes,        yes,        yes],
    'get{Short}AdvancedSettings':              [yes,        yes,        none,       yes,        yes,        yes],
    'edit{Short}AdvancedSettings':             [yes,        yes,        none,       yes,        yes,        yes],
  },
  restrictions: {
    'get{Kind}DeploymentRestrictions':         [yes,        image,      image,      yes,        yes,        yes],
    'create{Kind}DeploymentRestriction':       [yes,        image,      image,      yes,        yes,        yes],
    'edit{Kind}DeploymentRestriction':         [yes,        image,      image,      yes,        yes,        yes],
    'delete{Kind}DeploymentRestriction':       [yes,        image,      image,      yes,        yes,        yes],
  },
  customDomains: {
    //                                          application container   database    job         helm        terraform
    'list{Kind}CustomDomain':                  [yes,        yes,        noUrls,     noPorts,    yes,        noPorts],
    'create{Kind}CustomDomain':                [yes,        yes,        noUrls,     noPorts,    yes,        noPorts],
    'check{Kind}CustomDomain':                 [yes,        yes,        noUrls,     noPorts,    yes,        noPorts],
    'edit{Short}CustomDomain':                 [yes,        yes,        noUrls,     noPorts,    yes,        noPorts],
    'delete{Short}CustomDomain':               [yes,        yes,        noUrls,     noPorts,    yes,        noPorts],
  },
  singleCustomDomains: {
    'get{Short}CustomDomainStatus':            [yes,        yes,        noUrls,     noPorts,    longName,   noPorts],
    'get{Kind}CustomDomain':                   [status,     status,     noUrls,     noPorts,    yes,        noPorts],
  },
  domainCertificates: {
    //                                          application container   database    job         helm        terraform
    'upload{Kind}CustomDomainCertificate':     [yes,        yes,        noUrls,     noPorts,    yes,        noPorts],
    'delete{Kind}CustomDomainCertificate':     [yes,        yes,        noUrls,     noPorts,    yes,        noPorts],
  },
  networks: {
    'get{Kind}Network':                        [yes,        yes,        noUrls,     noPorts,    setting,    noPorts],
    'edit{Kind}Network':                       [yes,        yes,        noUrls,     noPorts,    setting,    noPorts],
  },
} as const satisfies Matrix

/** A row for every operation of `templates.ts`. */
export type Matrix = { readonly [S in Section]: { readonly [R in keyof Templates<'application'>[S]]: Row } }

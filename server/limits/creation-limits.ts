/** A limit on the objects that users create. */
export interface CreationLimit {
  /** The plural of the objects, as in messages. */
  readonly noun: string
  /** The owner that has at most so many of them. */
  readonly of: 'person' | 'organization' | 'project' | 'environment' | 'service' | 'project, environment or service'
  readonly usual: number
  /** The setting of the server with the limit. */
  readonly setting: string
}

const table = {
  organizations: ['organizations', 'person', 20, 'QUAYSIDE_MOST_ORGANIZATIONS'],
  projects: ['projects', 'organization', 500, 'QUAYSIDE_MOST_PROJECTS'],
  environments: ['environments', 'organization', 1_000, 'QUAYSIDE_MOST_ENVIRONMENTS'],
  services: ['services', 'organization', 2_000, 'QUAYSIDE_MOST_SERVICES'],
  members: ['members and invitations', 'organization', 2_000, 'QUAYSIDE_MOST_MEMBERS'],
  customRoles: ['custom roles', 'organization', 200, 'QUAYSIDE_MOST_CUSTOM_ROLES'],
  apiTokens: ['API tokens', 'organization', 1_000, 'QUAYSIDE_MOST_API_TOKENS'],
  webhooks: ['webhooks', 'organization', 50, 'QUAYSIDE_MOST_WEBHOOKS'],
  gitWebhooks: ['git webhooks', 'organization', 500, 'QUAYSIDE_MOST_GIT_WEBHOOKS'],
  gitTokens: ['git tokens', 'organization', 200, 'QUAYSIDE_MOST_GIT_TOKENS'],
  containerRegistries: ['container registries', 'organization', 1_000, 'QUAYSIDE_MOST_CONTAINER_REGISTRIES'],
  helmRepositories: ['Helm repositories', 'organization', 1_000, 'QUAYSIDE_MOST_HELM_REPOSITORIES'],
  clusters: ['clusters', 'organization', 50, 'QUAYSIDE_MOST_CLUSTERS'],
  credentials: ['credentials', 'organization', 200, 'QUAYSIDE_MOST_CREDENTIALS'],
  groups: ['groups of labels and annotations', 'organization', 500, 'QUAYSIDE_MOST_GROUPS'],
  domains: ['custom domains', 'organization', 2_000, 'QUAYSIDE_MOST_DOMAINS'],
  unprovenDomains: ['custom domains without a proof', 'organization', 1_000, 'QUAYSIDE_MOST_UNPROVEN_DOMAINS'],
  serviceDomains: ['custom domains', 'service', 50, 'QUAYSIDE_MOST_SERVICE_DOMAINS'],
  certificates: ['uploaded certificates', 'organization', 200, 'QUAYSIDE_MOST_CERTIFICATES'],
  deploymentRules: ['deployment rules', 'project', 200, 'QUAYSIDE_MOST_DEPLOYMENT_RULES'],
  stages: ['deployment stages', 'environment', 100, 'QUAYSIDE_MOST_STAGES'],
  waitingRequests: ['waiting deployments', 'environment', 100, 'QUAYSIDE_MOST_WAITING_DEPLOYMENTS'],
  variables: ['variables and secrets', 'project, environment or service', 10_000, 'QUAYSIDE_MOST_VARIABLES'],
  restrictions: ['deployment restrictions', 'service', 100, 'QUAYSIDE_MOST_RESTRICTIONS'],
  backups: ['backups', 'service', 500, 'QUAYSIDE_MOST_BACKUPS'],
} as const satisfies Record<string, readonly [string, CreationLimit['of'], number, string]>

export type LimitKind = keyof typeof table

// The keys of a constant are known.
export const limitKinds = Object.keys(table) as readonly LimitKind[]

/** Returns the limit of a kind of objects. */
export function creationLimitOf(kind: LimitKind): CreationLimit {
  const [noun, of, usual, setting] = table[kind]
  return { noun, of, usual, setting }
}

/** The limits of a server. */
export type CreationLimits = Readonly<Record<LimitKind, number>>

/** Returns the limits that `of` reads for each kind. */
export const limitsFrom = (of: (kind: LimitKind) => number): CreationLimits =>
  // The entries have exactly the keys of the table.
  Object.fromEntries(limitKinds.map((kind) => [kind, of(kind)])) as CreationLimits

export const usualLimits: CreationLimits = limitsFrom((kind) => creationLimitOf(kind).usual)

/** Pure: returns the reason why there is no room for more. */
export function limitReached(kind: LimitKind, most: number): string {
  const { noun, of, setting } = creationLimitOf(kind)
  const article = /^[aeiou]/.test(of) ? 'An' : 'A'
  return `${article} ${of} has at most ${most} ${noun} (${setting}). Delete some of them first.`
}

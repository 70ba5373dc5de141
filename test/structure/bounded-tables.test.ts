import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { creationLimitOf, type LimitKind, limitKinds } from '../../server/limits/index.ts'

// One organization cannot make a table large without end: each table has a limit of its rows, or a
// reason why it needs none.

const root = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

const limited: Readonly<Record<string, readonly LimitKind[]>> = {
  api_token: ['apiTokens'],
  backup: ['backups'],
  cluster: ['clusters'],
  container_registry: ['containerRegistries'],
  credentials: ['credentials'],
  custom_domain: ['domains', 'serviceDomains', 'unprovenDomains'],
  custom_role: ['customRoles'],
  deployment_request: ['waitingRequests'],
  deployment_restriction: ['restrictions'],
  deployment_stage: ['stages'],
  environment: ['environments'],
  git_token: ['gitTokens'],
  git_webhook: ['gitWebhooks'],
  helm_repository: ['helmRepositories'],
  invitation: ['members'],
  organization: ['organizations'],
  project: ['projects'],
  project_deployment_rule: ['deploymentRules'],
  service: ['services'],
  tag_group: ['groups'],
  uploaded_certificate: ['certificates'],
  variable: ['variables'],
  webhook: ['webhooks'],
}

/** Tables without a limit of their own, by the reason. */
const unlimited: Readonly<Record<string, string>> = {
  'has a fixed number of rows for each row of a limited table': `
    account_link audit_chain autoscaling_policy backup_file backup_policy backup_restore canary cluster_health
    cluster_lock cluster_tag_group custom_role_cluster custom_role_project data_key disk_usage
    environment_deployment_rule environment_schedule full_volume git_push_service host_certificate job_schedule
    observation organization_disk public_port repository_access route route_version service_disk service_output
    service_scale service_secret service_tag_group stack_drift_policy stack_state`,
  'has the people of limited members and invitations': 'account account_password member',
  'keeps the newest rows, and forgets older ones': `
    audit_event chart_diff copy_record erased_backup_file git_push git_webhook_delivery issuer_record job_run
    kept_reply outside_failure outside_state release sign_in_attempt stack_resource stack_run state_change
    state_change_feed traffic_source traffic_summary traffic_total traffic_window`,
  'is the history of work, of which an organization has a limited share at a time': `
    cluster_log cluster_operation deployment_target event webhook_delivery workflow workflow_step`,
  'is bounded by the disk and the inodes of the organization': `
    fetched_image git_receive hosted_branch hosted_repository image_owner`,
  'belongs to the platform itself': 'acme_account duty issuer_client issuer_key key_rotation setting',
}

const tables = [...read('server/database/schema.sql').matchAll(/^create table (\w+) \(/gm)].map(([, name = '']) => name)

test('each table has a limit of its rows, or a reason why it needs none', () => {
  assert.ok(tables.length > 90)
  const reasoned = Object.values(unlimited).flatMap((names) => names.trim().split(/\s+/))
  const named = [...Object.keys(limited), ...reasoned]
  assert.deepEqual(named.toSorted(), tables.toSorted())
})

test('each limit is one of a table', () => {
  assert.deepEqual(Object.values(limited).flat().toSorted(), limitKinds.toSorted())
})

test('the documentation lists each limit with its setting and its usual value', () => {
  const page = read('docs/operate.md')
  const rows = limitKinds.map((kind) => {
    const { noun, of, usual, setting } = creationLimitOf(kind)
    return `| \`${setting}\` | ${usual.toLocaleString('en')} ${noun} | ${of} |`
  })
  assert.deepEqual(
    rows.filter((row) => !page.includes(row)),
    [],
    'docs/operate.md lacks these rows',
  )
})

/** Files that insert rows, by the file whose callers ask for room before. */
const asksBefore: Readonly<Record<string, string>> = {
  'server/backups/backup-store.ts': 'server/backups/backups.ts',
  // An organization is created with its owner.
  'server/organizations/organization-store.ts': 'server/access/members.ts',
  'server/domains/custom-domain-store.ts': 'server/domains/custom-domains.ts',
  // The first stages of an environment are always the same.
  'server/organizations/environment-store.ts': 'server/environments/stage-store.ts',
  'server/requests/request-store.ts': 'server/requests/request.ts',
  'server/variables/import-store.ts': 'server/variables/import-variables.ts',
}

test('a file that inserts rows into a table with a limit asks for room', () => {
  const files = globSync('server/**/*.ts', { cwd: root }).filter((path) => !/\.test\.ts$|testing/.test(path))
  const without = files.flatMap((path) => {
    const [text, asking] = [read(path), read(asksBefore[path] ?? path)]
    const inserted = Object.entries(limited).filter(([table]) => new RegExp(`insert into ${table}\\b`).test(text))
    const isAsked = (kinds: readonly LimitKind[]): boolean =>
      kinds.every((kind) => [text, asking].some((one) => one.includes(`'${kind}'`)))
    return inserted.flatMap(([table, kinds]) => (isAsked(kinds) ? [] : [`${path}: ${table}`]))
  })
  assert.deepEqual(without, [])
})

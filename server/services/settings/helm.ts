import { parseForeign } from '../../lib/foreign-json.ts'
import { newId } from '../../lib/id.ts'
import { type Branch, type CreateBody, type EditBody, given, originOf, type TokenTypes } from './branch.ts'
import { keptId } from './ports.ts'
import { checkRepository, type Repository, repositoryOf, repositoryRecord } from './repository.ts'
import { checkIcon, checkPortNames, checkRelativePath, onlyOne, refuse } from './rules.ts'

export interface HelmPortSettings {
  readonly id: string
  readonly name: string
  readonly internal_port: number
  readonly external_port: number
  readonly namespace?: string
  readonly protocol: 'HTTP' | 'GRPC'
  readonly is_default: boolean
  readonly service_name?: string
  readonly service_selectors?: { readonly key: string; readonly value: string }[]
}
export type HelmSource =
  | { readonly git_repository: Repository }
  | {
      readonly helm_repository: {
        readonly repository: string
        readonly chart_name: string
        readonly chart_version: string
      }
    }
export interface ValuesOverride {
  readonly set: string[][]
  readonly set_string: string[][]
  readonly set_json: string[][]
  readonly file: {
    readonly raw: { readonly values: { readonly name: string; readonly content: string }[] } | null
    readonly git: { readonly git_repository: Repository; readonly paths: string[] } | null
  } | null
}
export interface HelmSettings {
  readonly ports: readonly HelmPortSettings[]
  readonly timeout_sec: number
  readonly auto_preview: boolean
  readonly auto_deploy: boolean
  readonly source: HelmSource
  readonly arguments: readonly string[]
  readonly allow_cluster_wide_resources: boolean
  readonly values_override: ValuesOverride
  readonly icon_uri: string
}

const defaultIcon = 'app://qovery-console/helm'
const sourcePath = 'source.git_repository'
const valuesPath = 'values_override.file.git.git_repository'
type PortBody = CreateBody<'helm'>['ports'][number]

function sourceOf(
  { git_repository, helm_repository }: CreateBody<'helm'>['source'],
  former: HelmSource | undefined,
  types: TokenTypes,
): HelmSource {
  onlyOne('source', { git_repository, helm_repository })
  if (helm_repository) return { helm_repository: { ...helm_repository } }
  if (!git_repository) return refuse('source', 'must hold exactly one of git_repository, helm_repository')
  const before = former && 'git_repository' in former ? former.git_repository : undefined
  return { git_repository: repositoryOf(git_repository, before, types(sourcePath)) }
}

function valuesOf(
  { set, set_string, set_json, file }: CreateBody<'helm'>['values_override'],
  former: ValuesOverride | undefined,
  types: TokenTypes,
): ValuesOverride {
  const git = file?.git
  return {
    set: [...set],
    set_string: [...set_string],
    set_json: [...set_json],
    file: file
      ? {
          raw: file.raw ? { values: [...file.raw.values] } : null,
          git: git
            ? {
                git_repository: repositoryOf(git.git_repository, former?.file?.git?.git_repository, types(valuesPath)),
                paths: [...git.paths],
              }
            : null,
        }
      : null,
  }
}

function portOf(
  port: PortBody,
  index: number,
  all: readonly PortBody[],
  former: readonly HelmPortSettings[],
): HelmPortSettings {
  const { service_name, service_selectors } = port
  const selectors = service_selectors?.length ? [...service_selectors] : undefined
  onlyOne(`ports[${index}]`, { service_name, service_selectors: selectors })
  const isSame = (one: HelmPortSettings, other: PortBody): boolean =>
    one.internal_port === other.internal_port && one.service_name === (other.service_name ?? undefined)
  const anyDefault = all.some((candidate) => candidate.is_default)
  return {
    id: keptId(port, all, former, isSame) ?? newId(),
    name: port.name ?? `p${port.internal_port}`,
    internal_port: port.internal_port,
    external_port: port.external_port ?? 443,
    protocol: port.protocol,
    is_default: anyDefault ? port.is_default === true : index === 0,
    ...(port.namespace ? { namespace: port.namespace } : {}),
    ...(service_name ? { service_name } : {}),
    ...(selectors ? { service_selectors: selectors } : {}),
  }
}

function change(former: Partial<HelmSettings>, body: EditBody<'helm'>, types: TokenTypes): HelmSettings {
  const { timeout_sec, auto_deploy, allow_cluster_wide_resources, ports, source, values_override } = body
  if (body.blueprint_id) refuse('blueprint_id', 'must be null: there are no blueprints')
  // Every required member comes from the previous settings or the defaults of the schema.
  return {
    ...former,
    ...given({ timeout_sec, auto_deploy, allow_cluster_wide_resources, arguments: body.arguments }),
    auto_preview: body.auto_preview ?? former.auto_preview ?? false,
    ports: ports ? ports.map((port, index) => portOf(port, index, ports, former.ports ?? [])) : former.ports,
    source: source ? sourceOf(source, former.source, types) : former.source,
    values_override: values_override
      ? valuesOf(values_override, former.values_override, types)
      : former.values_override,
    icon_uri: body.icon_uri ?? former.icon_uri ?? defaultIcon,
  } as HelmSettings
}

export const helmBranch: Branch<'helm'> = {
  create: (body, types) => change({}, body, types),
  change,
  check: ({ ports, source, values_override: values, icon_uri }) => {
    checkPortNames(ports)
    if ('git_repository' in source) checkRepository(sourcePath, source.git_repository)
    for (const [index, [, text = '']] of values.set_json.entries()) {
      if (!isJson(text)) refuse(`values_override.set_json[${index}][1]`, 'must be JSON')
    }
    const git = values.file?.git
    if (git) {
      checkRepository(valuesPath, git.git_repository)
      for (const [index, path] of git.paths.entries()) {
        checkRelativePath(`values_override.file.git.paths[${index}]`, path.replace(/^\/+/, ''), false)
      }
    }
    checkIcon(icon_uri)
  },
  repositories: [sourcePath, valuesPath],
  origins: [{ table: 'helm_repository', path: 'source.helm_repository.repository' }],
  record: (settings, facts) => {
    const { source, values_override } = settings
    const git = values_override.file?.git
    return {
      ...settings,
      arguments: [...settings.arguments],
      ports: settings.ports.map((port) => ({
        ...port,
        port_type: port.service_name === undefined ? 'SERVICE_SELECTORS' : 'SERVICE_NAME',
      })),
      source:
        'git_repository' in source
          ? { git: { git_repository: repositoryRecord(source.git_repository, facts) } }
          : { repository: { ...source.helm_repository, repository: originOf(facts) } },
      values_override: {
        ...values_override,
        file: values_override.file && {
          ...values_override.file,
          git: git ? { ...git, git_repository: repositoryRecord(git.git_repository, facts) } : null,
        },
      },
      blueprint_id: null,
    }
  },
}

function isJson(text: string): boolean {
  try {
    parseForeign(Buffer.from(text))
    return true
  } catch {
    return false
  }
}
